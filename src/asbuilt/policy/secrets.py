"""Say which files hold secrets, by their names alone; a name may be a pattern. Pure.

The one rule: a pattern that aims at a secret is one; one that takes a whole folder is judged as a search
through it.
"""

from __future__ import annotations

from asbuilt.policy.ring import SECRET_FILES, SECRET_FOLDERS

# fmt: off
_OWN_FOLDERS = (".local/state/asbuilt", ".config/asbuilt", ".local/share/asbuilt")
_MORE_FOLDERS = (
    ".config/op", ".electrum", ".bitcoin", ".config/doctl", ".config/heroku", ".fly", ".snowflake",
)
_MORE_FILES = (
    ".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
    ".azure.json",
    ".local/share/opencode/auth.json", ".config/nix/nix.conf", ".s3cfg", ".boto", ".dockercfg",
    ".databrickscfg",
    ".docker/config.json", ".config/rclone.conf", ".m2/settings.xml", ".gradle/gradle.properties",
    ".composer/auth.json", ".config/pip/pip.conf", ".pip/pip.conf",
)
# Wherever they stand, also in a repository.
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
    ".fetchmailrc",
))
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
    "bash.bashrc", "bashrc", "inputrc", "login.defs", "group", "ld.so.conf", "sysctl.conf", "gitconfig",
))
"""What of the system's settings may be read; the others may hold passwords."""
_DEVICES = frozenset(("/dev/null", "/dev/zero", "/dev/stdin", "/dev/urandom", "/dev/random"))
_PROC = frozenset((
    "cpuinfo", "meminfo", "version", "loadavg", "uptime", "stat", "filesystems", "swaps", "mounts", "devices",
    "vmstat", "diskstats", "partitions", "sys",
))
_WHOLE = ("/", "/home", "/root", "/Users", "/etc", "/proc", "/dev", "/var", "/run", "/sys", "/mnt", "/media")
# fmt: on
LONGEST_PATTERN = 300
"""Longer patterns are nobody's, and comparing them would take its time."""


def is_secret(path: str, *, home: str, pattern: bool = False) -> bool:
    """Tell whether a file is nobody's to read; `path` is absolute and clean."""
    lower = path.lower()
    parts = [part for part in lower.split("/") if part]
    if not parts:
        return False
    if pattern and _is_wild(parts[0]):
        return True
    if parts[0] == "private" and len(parts) > 1:
        parts, lower = parts[1:], lower[len("/private") :]
    if parts[0] == "etc":
        return len(parts) > 2 or parts[-1] not in _ETC
    if parts[0] in ("proc", "dev") and path not in _DEVICES:
        return not (parts[0] == "proc" and len(parts) > 1 and parts[1] in _PROC)
    if any(lower == one or lower.startswith(f"{one}/") for one in _system(lower, pattern=pattern)):
        return True
    if _at_home(path, home, pattern=pattern):
        return True
    return any(_is_folder(part, pattern=pattern) for part in parts[:-1]) or _is_name(parts, pattern=pattern)


def is_secret_folder(path: str, *, home: str) -> bool:
    """Tell whether even the names in a folder are nobody's to list."""
    parts = [part for part in path.lower().split("/") if part]
    inner = f"{path.rstrip('/')}/x"
    return _at_home(inner, home, pattern=False) or any(_is_folder(part, pattern=False) for part in parts)


def holds_secrets(path: str, *, home: str) -> bool:
    """Tell whether a search through a whole folder would come upon what is nobody's to read."""
    clean = path.rstrip("/") or "/"
    above_home = home == clean or home.startswith(f"{clean.rstrip('/')}/")
    if clean in _WHOLE or above_home or clean.endswith("/secrets"):
        return True
    below = f"{clean}/"
    if below.startswith(("/etc/", "/private/etc/")):
        return True
    if any(f"{home}/{one}".startswith(below) for one in (*SECRET_FOLDERS, *SECRET_FILES, *_MORE_FILES)):
        return True
    if any(one.startswith(below) for one in _SYSTEM):
        return True
    return is_secret_folder(clean, home=home) or _other_home(clean)


def aims_at_secret(name: str) -> bool:
    """Tell whether a filter of file names, such as grep's --include, picks out secrets."""
    if name.count("{") > 2 or len(name) > LONGEST_PATTERN:
        return True
    before, brace, rest = name.partition("{")
    inner, closed, after = rest.partition("}")
    if brace and closed:
        return any(aims_at_secret(f"{before}{one}{after}") for one in inner.split(","))
    parts = [part for part in name.lower().split("/") if part]
    whole = not parts or (not parts[-1].strip("*?.") and parts[-1][0] != ".")
    if name.startswith("!") or whole:
        return False
    if any(_is_folder(part, pattern=True) for part in parts[:-1]) or _is_name(parts, pattern=True):
        return True
    # Unlike a shell's, a wildcard of a program's own may also stand for the dot at the start.
    return any(_meet(form, one) for form in _dotted(parts[-1]) for one in _HIDDEN)


def _dotted(name: str) -> tuple[str, ...]:
    """Give what a pattern becomes where its first wildcard stands for a dot, or for what begins with one."""
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
        "/".join(parts[: one.count("/") + 1])
        for one in _SYSTEM
        if len(parts) > one.count("/")
        and all(_meet(mine, other) for mine, other in zip(parts, one.split("/"), strict=False))
    ]
    return (*_SYSTEM, *fitting)


def _at_home(path: str, home: str, *, pattern: bool) -> bool:
    """Look below the home, and below what looks like anybody's."""
    parts = [part for part in path.lower().split("/") if part]
    own = [part for part in home.lower().split("/") if part]
    starts = [len(own)] if own and parts[: len(own)] == own else []
    starts += [1] if parts[:1] == ["root"] else [2] if parts[:1] in (["home"], ["users"]) else []
    for start in starts:
        below = parts[start:]
        for folder in (*SECRET_FOLDERS, *_OWN_FOLDERS, *_MORE_FOLDERS):
            wanted = folder.lower().split("/")
            if len(below) >= len(wanted) and _all_meet(below, wanted, pattern=pattern):
                return True
        for file in (*SECRET_FILES, *_MORE_FILES):
            wanted = file.lower().split("/")
            if len(below) == len(wanted) and _all_meet(below, wanted, pattern=pattern):
                return True
    return False


def _other_home(path: str) -> bool:
    parts = [part for part in path.lower().split("/") if part]
    return len(parts) <= 2 and parts[:1] in (["home"], ["users"])


def _all_meet(given: list[str], wanted: list[str], *, pattern: bool) -> bool:
    return all(
        mine == other or (pattern and _meet(mine, other)) for mine, other in zip(given, wanted, strict=False)
    )


def _is_folder(part: str, *, pattern: bool) -> bool:
    if pattern and part.strip("*") and _is_wild(part):
        return any(_meet(part, one) for one in _FOLDERS)
    return part in _FOLDERS


def _is_name(parts: list[str], *, pattern: bool) -> bool:
    name = parts[-1]
    stem, dot, ending = name.rpartition(".")
    if ending not in _SOURCE and any(_meet(part, "secrets") for part in parts[:-1] if part.strip("*")):
        return True
    if pattern and _is_wild(name):
        if name.startswith(".") and _meet(name, ".env"):
            return True
        if dot and ending.strip("*") and any(_meet(ending, one) for one in _ENDINGS):
            return True
        takes_all = not name.strip("*?") or (stem and not stem.strip("*?"))
        return not takes_all and any(_meet(name, one) for one in _NAMES)
    if dot and ending in _SHOWN:
        return False
    if ending not in _SOURCE and any(one in name for one in _CONTAINED):
        return True
    if name in _NAMES or name.startswith((".env.", ".env-", ".env_")) or (dot and ending in _ENDINGS):
        return True
    return name.startswith(("ssh_host_", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa")) or name.endswith(
        ("_history~", ".env~")
    )


def _is_wild(name: str) -> bool:
    return "*" in name or "?" in name or "[" in name


def _meet(pattern: str, name: str) -> bool:
    """Tell whether a pattern may stand for a name; a range in brackets stands for any character.

    A wildcard at the start stands for no dot: no shell lets it, unless it was told to.
    """
    if not _is_wild(pattern):
        return pattern == name
    if name.startswith(".") and pattern[0] in "*?[":
        return False
    simple, at = "", 0
    while at < len(pattern):
        end = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        simple += "?" if end >= 0 else pattern[at]
        at = end + 1 if end >= 0 else at + 1
    # Which places in the pattern can have been reached after each character of the name.
    places = _rests(simple, {0})
    for character in name:
        places = _rests(
            simple,
            {
                place if simple[place] == "*" else place + 1
                for place in places
                if place < len(simple) and simple[place] in ("*", "?", character)
            },
        )
    return len(simple) in places


def _rests(simple: str, places: set[int]) -> set[int]:
    found = set(places)
    for place in places:
        at = place
        while at < len(simple) and simple[at] == "*":
            at += 1
            found.add(at)
    return found
