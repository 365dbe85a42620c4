"""Variables of the surrounding environment that a sandboxed process gets. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHOWN_VARIABLES = (
    # Certificates.
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("PIP_CERT", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "NIX_SSL_CERT_FILE"),
    # Places of toolchains.
    *("JAVA_HOME", "GOROOT", "RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR", "RBENV_ROOT", "VOLTA_HOME"),
    *("ASDF_DATA_DIR", "MISE_DATA_DIR", "M2_HOME", "MAVEN_HOME", "UV_PYTHON_INSTALL_DIR"),
)
"""Variables that name a path; the path is visible in the sandbox."""
PASSED_VARIABLES = (
    # User and locale.
    *("PATH", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "TZ", "USER", "LOGNAME", "SHELL"),
    *("LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME"),
    *("LC_ADDRESS", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_NAME", "LC_PAPER", "LC_TELEPHONE"),
    # Choice of toolchains.
    *("RUSTUP_TOOLCHAIN", "PYENV_VERSION", "RBENV_VERSION", "CC", "CXX", "PKG_CONFIG_PATH"),
    "UV_SYSTEM_CERTS",
    *SHOWN_VARIABLES,
)
ADDRESS_VARIABLES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_DEFAULT_TIMEOUT", "UV_INDEX_URL"),
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS", "npm_config_registry", "NPM_CONFIG_REGISTRY"),
    *("GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE"),
)
"""Proxies and registries, passed if the URL carries no password."""


def passed(environ: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that a sandboxed process gets: a short list, and those that the user named."""
    names = {*PASSED_VARIABLES, *more}
    return {
        name: value
        for name, value in environ.items()
        if name in names or (name in ADDRESS_VARIABLES and "@" not in value)
    }
