"""Decide by name which paths an agent may not read in plan mode; a name may be a pattern. Pure.

Rules: in a home, only the repository, toolchains, skills and the session's plans are readable. Elsewhere,
names that hold secrets are refused. A pattern that aims at a secret counts as one; a pattern that matches a
whole folder is judged as a search through it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# fmt: off
_SHARED = (
    ".cargo/bin", ".cargo/git", ".cargo/registry", ".rustup", ".pyenv", ".rbenv", ".nvm", ".volta", ".asdf",
    ".sdkman", ".deno", ".bun/install", ".local/lib", ".local/share/mise", ".local/share/uv", "go/pkg",
    ".m2/repository", ".gradle/caches", ".claude/plans", ".claude/plugins", ".claude/skills",
)
"""Paths in a home that a session may read besides its repository: toolchains, packages, skills, plans."""
# Everywhere, also in a repository.
_FOLDERS = frozenset((
    ".ssh", ".aws", ".gnupg", ".kube", ".password-store", ".azure", ".secrets", ".vault", "keyrings",
    "kwalletd",
))
_NAMES = frozenset((
    ".env", ".envrc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
    ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf",
    ".mylogin.cnf",
    ".vault-token", ".dockercfg", ".docker-credentials", "credentials", "credentials.json",
    ".credentials.json",
    "credentials.toml", "credentials.yml", "credentials.yaml", "secrets.json", "secrets.yml", "secrets.yaml",
    "secrets.toml", "secrets.env", "secret.json", "secret.yml", "secret.yaml", "secrets.properties",
    "kubeconfig",
    "service-account.json", "service_account.json", "master.key", ".bash_history",
    ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history", ".sh_history",
    ".history", "oauth_creds.json", "passwords.txt", "secret", "secrets", ".secret", ".secrets",
    "credentials.csv", ".dockerconfigjson",
    "password.txt", "secrets.txt", "secret.txt", "token.txt", "terraform.tfvars", "vault.yml", "vault.yaml",
    ".terraformrc", ".flaskenv", ".pgservice.conf", ".pg_service.conf", ".esmtprc", ".msmtprc",
    ".fetchmailrc", ".vault_pass", ".dev.vars", "auth.json", "local.settings.json", "npmrc",
))
_STARTS = (".env.", ".env-", ".env_", ".dev.vars.", "krb5cc_")
_CONTAINED = ("service-account", "service_account", "serviceaccount", "-key.json", "_key.json", ".tfstate")
_HIDDEN = (".env", ".envrc", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials")
_ENDINGS = frozenset((
    "pem", "key", "p12", "pfx", "p8", "keystore", "jks", "kdbx", "kdb", "ppk", "env", "tfstate", "keytab",
    "gpg",
    "ovpn", "pkcs12", "secret", "secrets", "agekey", "htpasswd", "tfvars",
))
_SHOWN = frozenset(("example", "sample", "template", "dist", "defaults", "default", "tmpl", "tpl", "pub",
"md"))
_SOURCE = frozenset((
    "c", "cc", "cpp", "cs", "dart", "ex", "exs", "go", "h", "hpp", "hs", "java", "js", "jsx", "kt", "lua",
    "md",
    "mjs", "php", "py", "pyi", "rb", "rs", "rst", "scala", "sh", "swift", "ts", "tsx", "vue",
))
_SYSTEM = (
    "/run", "/var/run", "/var/lib/docker", "/var/lib/kubelet", "/var/lib/containerd",
    "/var/lib/postgresql", "/var/lib/mysql", "/var/spool", "/var/mail", "/var/backups",
    "/sys/kernel/debug", "/sys/kernel/security",
)
_ETC = frozenset((
    "etc", "os-release", "lsb-release", "debian_version", "redhat-release", "alpine-release", "issue",
    "hosts", "hostname", "resolv.conf", "nsswitch.conf", "host.conf", "timezone", "localtime", "shells",
    "fstab", "mtab", "services", "protocols", "mime.types", "locale.conf", "locale.gen", "profile", "motd",
    "bash.bashrc", "bashrc", "inputrc", "login.defs", "group", "ld.so.conf", "sysctl.conf",
))
"""Files in /etc that may be read; others may hold passwords."""
_DEVICES = frozenset(("/dev/null", "/dev/zero", "/dev/stdin", "/dev/urandom", "/dev/random"))
_PROC = frozenset((
    "cpuinfo", "meminfo", "version", "loadavg", "uptime", "stat", "filesystems", "swaps", "mounts", "devices",
    "vmstat", "diskstats", "partitions", "sys",
))
_WHOLE = ("/", "/home", "/root", "/Users", "/etc", "/proc", "/dev", "/var", "/run", "/sys", "/mnt", "/media")
# fmt: on
LONGEST_PATTERN = 300
"""Longer patterns are refused: comparing them would take too long."""
_IN_FOLDERS = {
    ".git": ("config", "config.worktree"),
    ".docker": ("config.json",),
    ".claude": ("settings.local.json",),
}
"""Names that hold secrets only inside that folder."""


class Reach:
    """The homes of a machine, and the paths in them that a session may read."""

    __slots__ = ("_homes", "_opened")

    def __init__(self, homes: Iterable[str], opened: Iterable[str]) -> None:
        self._homes = [parts for home in homes if (parts := _parts(home.lower()))]
        self._opened = [_parts(path) for path in opened if path]

    def closes(self, path: str, *, pattern: bool = False) -> bool:
        """Return whether a path is in a home and a session may not read it."""
        exact, lower = _parts(path), _parts(path.lower())
        return any(
            not self._is_open(exact, lower, start)
            for start in self._starts(lower, pattern=pattern)
            if len(lower) >= start
        )

    def is_above(self, path: str) -> bool:
        """Return whether a folder is a home or contains one."""
        lower = _parts(path.lower())
        return any(home[: len(lower)] == lower for home in self._homes)

    def _starts(self, lower: list[str], *, pattern: bool) -> Iterator[int]:
        """Yield where the inside of a home starts in a path: the user's home, or what looks like one."""
        for home in self._homes:
            fits = zip(lower, home, strict=False)
            if all(mine == other or (pattern and meets(mine, other)) for mine, other in fits):
                yield len(home)
        if lower[:1] == ["root"]:
            yield 1
        for at in (0, 1):
            if lower[at : at + 1] in (["home"], ["users"]):
                yield at + 2

    def _is_open(self, exact: list[str], lower: list[str], start: int) -> bool:
        for opened in self._opened:
            if exact[: len(opened)] != opened:
                continue
            # A repository that is the whole home, or contains it, opens no hidden file there.
            if len(opened) > start or (len(lower) > start and lower[start][0] not in ".["):
                return True
        return any(lower[start:][: len(shared)] == shared for shared in map(_parts, _SHARED))


def is_secret(path: str, reach: Reach, *, pattern: bool = False) -> bool:
    """Return whether an agent may not read a file; `path` is absolute and clean."""
    lower = path.lower()
    parts = _parts(lower)
    if not parts:
        return False
    if reach.closes(path, pattern=pattern) or (pattern and is_wild(parts[0])):
        return True
    if parts[0] == "private" and len(parts) > 1:
        parts, lower = parts[1:], lower[len("/private") :]
    if parts[0] == "etc":
        return len(parts) > 2 or parts[-1] not in _ETC
    if parts[0] in ("proc", "dev") and path not in _DEVICES:
        return not (parts[0] == "proc" and len(parts) > 1 and parts[1] in _PROC)
    if any(lower == folder or lower.startswith(f"{folder}/") for folder in _system(lower, pattern=pattern)):
        return True
    return any(_is_folder(part, pattern=pattern) for part in parts[:-1]) or _is_name(parts, pattern=pattern)


def is_secret_folder(path: str, reach: Reach) -> bool:
    """Return whether not even the names in a folder may be listed."""
    return reach.closes(path) or any(_is_folder(part, pattern=False) for part in _parts(path.lower()))


def holds_secrets(path: str, reach: Reach) -> bool:
    """Return whether a search through a whole folder would reach secrets."""
    clean = path.rstrip("/") or "/"
    if clean in _WHOLE or reach.is_above(clean) or clean.endswith(("/secrets", "/.git")):
        return True
    below = f"{clean}/"
    if below.startswith(("/etc/", "/private/etc/")):
        return True
    if any(folder.startswith(below) for folder in _SYSTEM):
        return True
    return is_secret_folder(clean, reach)


def aims_at_secret(name: str) -> bool:
    """Return whether a filter of file names, such as grep's --include, selects secrets."""
    if name.count("{") > 2 or len(name) > LONGEST_PATTERN:
        return True
    before, brace, rest = name.partition("{")
    inner, closed, after = rest.partition("}")
    if brace and closed:
        return any(aims_at_secret(f"{before}{choice}{after}") for choice in inner.split(","))
    parts = _parts(name.lower())
    whole = not parts or (not parts[-1].strip("*?.") and parts[-1][0] != ".")
    if name.startswith("!"):
        return leaves_secrets(name[1:])
    if whole:
        return False
    if any(_is_folder(part, pattern=True) for part in parts[:-1]) or _is_name(parts, pattern=True):
        return True
    # Unlike the shell's wildcards, those of a program may also match a leading dot.
    return any(meets(form, hidden) for form in _dotted(parts[-1]) for hidden in _HIDDEN)


def leaves_secrets(name: str) -> bool:
    """Return whether a filter excludes files by wildcards alone, so that mostly secrets may remain."""
    plain = name
    while (start := plain.find("[")) >= 0 and (end := plain.find("]", start + 2)) >= 0:
        plain = plain[:start] + plain[end + 1 :]
    return not plain.strip("*?./") and not plain.rpartition("/")[2].startswith(".")


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _dotted(name: str) -> tuple[str, ...]:
    """Return the forms of a pattern in which its first wildcard matches a leading dot."""
    if name.startswith("*"):
        rest = name.lstrip("*")
        return f".*{rest}", rest
    if name.startswith("?"):
        return (f".{name[1:]}",)
    if name.startswith("["):
        return (f".{name[name.find(']', 2) + 1 :]}",)
    return ()


def _system(lower: str, *, pattern: bool) -> tuple[str, ...]:
    if not pattern or not lower.startswith("/"):
        return _SYSTEM
    parts = lower.split("/")
    fitting = [
        "/".join(parts[: folder.count("/") + 1])
        for folder in _SYSTEM
        if len(parts) > folder.count("/")
        and all(meets(mine, other) for mine, other in zip(parts, folder.split("/"), strict=False))
    ]
    return (*_SYSTEM, *fitting)


def _is_folder(part: str, *, pattern: bool) -> bool:
    if pattern and part.strip("*") and is_wild(part):
        return any(meets(part, folder) for folder in _FOLDERS)
    return part in _FOLDERS


def _is_name(parts: list[str], *, pattern: bool) -> bool:
    name = parts[-1]
    stem, dot, ending = name.rpartition(".")
    known = [file for folder, names in _IN_FOLDERS.items() if folder in parts[:-1] for file in names]
    if any(form == name or (pattern and meets(name, form)) for form in known):
        return True
    if ending not in _SOURCE and any(meets(part, "secrets") for part in parts[:-1] if part.strip("*")):
        return True
    if pattern and is_wild(name):
        if name.startswith((".env", *_STARTS)) or any(meets(name, form) for form in (".env", ".env.local")):
            return True
        if dot and ending.strip("*") and any(meets(ending, suffix) for suffix in _ENDINGS):
            return True
        takes_all = not name.strip("*?") or (stem and not stem.strip("*?"))
        return not takes_all and any(meets(name, form) for form in _NAMES)
    if dot and ending in _SHOWN:
        return False
    if ending not in _SOURCE and any(fragment in name for fragment in _CONTAINED):
        return True
    if name in _NAMES or name.startswith(_STARTS) or (dot and ending in _ENDINGS):
        return True
    return name.startswith(("ssh_host_", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa")) or name.endswith(
        ("_history~", ".env~")
    )


def is_wild(name: str) -> bool:
    """Return whether a name is a shell pattern."""
    return "*" in name or "?" in name or "[" in name


def meets(pattern: str, name: str) -> bool:
    """Return whether a pattern may match a name; a range in brackets matches any character.

    A leading wildcard does not match a dot, which is the default of every shell.
    """
    return fits(pieces_of(pattern), name)


def pieces_of(pattern: str) -> list[str]:
    """Split a pattern at its stars; a range in brackets becomes a `?`."""
    simple, at = "", 0
    while at < len(pattern):
        end = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        simple += "?" if end >= 0 else pattern[at]
        at = end + 1 if end >= 0 else at + 1
    if "]" in simple:
        # `[[:alpha:]]`, `[!]a]`, or a quoted ] in a range: where the range ends is not certain.
        before, _, rest = pattern.partition("[")
        simple = f"{before}*{rest.rpartition(']')[2]}" if rest else simple
    return simple.split("*")


def fits(pieces: Sequence[str], name: str) -> bool:
    """Return whether a pattern, split into pieces, may match a name."""
    first, *rest = pieces
    if name.startswith(".") and not first.startswith("."):
        return False
    if not rest:
        return len(first) == len(name) and _is_at(first, name, 0)
    last = rest.pop()
    at, end = len(first), len(name) - len(last)
    if end < at or not _is_at(first, name, 0) or not _is_at(last, name, end):
        return False
    for piece in rest:
        # The first match is the best one: it leaves the most of the name to the following pieces.
        while at + len(piece) <= end and not _is_at(piece, name, at):
            at += 1
        at += len(piece)
        if at > end:
            return False
    return True


def _is_at(piece: str, name: str, at: int) -> bool:
    """Return whether a piece without a star matches a name at an offset."""
    if "?" not in piece:
        return name.startswith(piece, at)
    return all(mine in ("?", other) for mine, other in zip(piece, name[at:], strict=False))
