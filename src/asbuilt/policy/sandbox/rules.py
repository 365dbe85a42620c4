"""What a sandboxed process may touch, and the bubblewrap arguments for it. Pure: paths are resolved before.

Rules: a path that is neither of the system nor named does not exist; a path that is not named writable is
read-only; of two paths the deeper one decides.

Without bubblewrap, Landlock holds in Linux, and one generated profile in macOS. Landlock is used for commands
in plan mode only: it stops neither chmod nor UDP, and it cannot hide a path inside a folder that it allows.
Profiles are used only on a machine where one has refused a canary write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

Level = Literal["bwrap", "landlock", "seatbelt", "none"]
Strings = tuple[str, ...]

SECRET_FOLDERS = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".oci", ".password-store"),
    *(".config/gh", ".config/glab-cli", ".config/gcloud", ".config/hub", ".config/op", ".config/sops"),
    *(".config/rclone", ".config/containers", ".config/asbuilt"),
    *(".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains"),
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium"),
)
SECRET_FILES = (
    *(".netrc", ".git-credentials", ".config/git/credentials", ".pypirc", ".npmrc", ".pgpass", ".my.cnf"),
    *(".vault-token", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials"),
    *(".terraform.d/credentials.tfrc.json", ".bash_history", ".zsh_history", ".python_history"),
)
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/nix/store", "/gnu/store", "/run/current-system"),
)
"""Programs and libraries of the system. Some are links into /usr."""
SETTINGS = (
    *("alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "chromium*"),
    "crypto-policies",
    *("debian_version", "dotnet", "fonts", "gai.conf", "ghc", "gnutls", "group", "host.conf", "hosts"),
    *("ImageMagick*", "inputrc", "java*", "jvm", "ld.so.*", "locale.alias", "locale.conf", "localtime"),
    *("login.defs", "magic*", "mailcap", "maven", "mime.types", "nsswitch.conf", "OpenCL", "os-release"),
    *("passwd", "perl", "php", "pki/ca-trust", "pki/tls/certs", "pki/tls/openssl.cnf", "profile"),
    *("protocols", "python3*", "R", "redhat-release", "resolv.conf", "ruby", "services", "shells", "skel"),
    *("ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "static", "terminfo", "texmf", "timezone", "vulkan"),
    "xattr.conf",
)
"""Patterns of the files in /etc that programs need. Other files there may hold passwords."""
KERNEL = ("/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup")
"""Paths by which programs count processors and memory."""
RUN_KEPT = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf")
"""Paths in /run for name lookup. Other sockets there belong to session managers and container engines."""

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PRIVATE_TMP = "/tmp"  # noqa: S108  the name inside the sandbox, where it is a folder of its own
_EMPTY = ("/run", "/var/tmp", "/home", "/root", "/mnt", "/srv")  # noqa: S108  no file, and nobody can make one


class Placed(NamedTuple):
    """A folder of this machine at another path inside the sandbox."""

    folder: str
    at: str
    writable: bool = True


class Overlay(NamedTuple):
    """A view, at `point`, of several folders: writes go to `upper`, the other folders never change.

    Without an `upper` it is read-only, and needs two folders.
    """

    lower: Strings
    """The first folder that has a path decides."""
    upper: str
    work: str
    """An empty folder on the file system of `upper`, for the kernel only."""
    point: str

    @property
    def options(self) -> str:
        """Options for mount(2); commas and colons in paths are escaped."""
        lower = ":".join(_escaped(path).replace(":", "\\:") for path in self.lower)
        above = f",upperdir={_escaped(self.upper)},workdir={_escaped(self.work)}" if self.upper else ""
        return f"lowerdir={lower}{above},userxattr"


class Request(Struct, frozen=True, kw_only=True):
    """What one process may touch. It may also read the system (`SYSTEM`, `SETTINGS`)."""

    chdir: str
    writable: Strings = ()
    read_only: Strings = ()
    """Read-only although a folder around it is writable."""
    readable: Strings = ()
    """Visible although no folder around it is."""
    hidden: Strings = ()
    """Hidden although a folder around it is visible."""
    hidden_files: Strings = ()
    home: str | None = None
    """Its own folder as HOME; None: HOME is the private tmp."""
    tmp: str | None = None
    """The folder that replaces /tmp; None: one in memory that is deleted with the process."""
    network: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    placed: tuple[Placed, ...] = ()
    """Folders at another path inside. Only bubblewrap can do this."""
    overlays: tuple[Overlay, ...] = ()
    """Views over several folders, mounted before anything else. Only bubblewrap can do this."""
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links, each with its target: /bin is one in most systems. Only bubblewrap can do this."""
    user: int | None = None
    """The user id inside; None: that of the user who starts it. Only bubblewrap can do this."""

    def changed(self, **fields: Any) -> Request:  # noqa: ANN401  each is its field's
        """Return a copy with other fields."""
        return replace(self, **fields)


def for_agent(  # noqa: PLR0913  each of these is a different right
    *,
    workspace: str,
    writable: bool,
    out: str,
    home: str,
    own: Strings = (),
    sealed: Strings = (),
    readable: Strings = (),
    **more: Any,  # noqa: ANN401  other fields of a request
) -> Request:
    """Build the request of an agent: it writes its workspace, state and `out`, never what could act later.

    `network` is the machine's own. Without it a process reaches only what a proxy outside allows, if there is
    one.
    """
    return Request(
        chdir=workspace,
        writable=(*((workspace,) if writable else ()), out, home, *own),
        read_only=(_join(workspace, ".git"), *sealed) if writable else sealed,
        readable=(*readable, *(() if writable else (workspace,))),
        home=home,
        **more,
    )


def for_check(
    *,
    cwd: str,
    home: str,
    writable: Strings = (),
    readable: Strings = (),
    **more: Any,  # noqa: ANN401  other fields of a request
) -> Request:
    """Build the request of a command that runs an agent's code: its own HOME and tmp, mostly no network."""
    return Request(
        chdir=cwd,
        writable=(*writable, home),
        read_only=tuple(_join(folder, ".git") for folder in writable),
        readable=(*readable, cwd),
        home=home,
        **more,
    )


def for_planning(
    *, cwd: str, readable: Strings = (), environment: Mapping[str, str] | None = None
) -> Request:
    """Build the request of a command in plan mode: it reads, and changes nothing."""
    return Request(chdir=cwd, readable=(*readable, cwd), environment=environment or {})


def secrets(home: str) -> tuple[Strings, Strings]:
    """Return the folders and files below a home that no sandboxed process may see."""
    return (
        tuple(_join(home, name) for name in SECRET_FOLDERS),
        tuple(_join(home, name) for name in SECRET_FILES),
    )


def environment_in(request: Request) -> dict[str, str]:
    """Return the whole environment inside the sandbox."""
    home = request.home or PRIVATE_TMP
    return {
        "PATH": DEFAULT_PATH,
        "LANG": "C.UTF-8",
        **request.environment,
        "HOME": home,
        "TMPDIR": PRIVATE_TMP,
    }


def bubblewrap(
    request: Request,
    argv: Sequence[str],
    *,
    program: str,
    status_fd: int | None = None,
    filter_fd: int | None = None,
    shares_terminal: bool = False,
) -> list[str]:
    """Return the whole command line; `filter_fd` is a descriptor to read the filter of `seccomp` from.

    The caller must start it with `environment_in(request)` as its whole environment: inside, the first
    process is bubblewrap itself, and every process can read its environment in /proc/1/environ, even with
    `--clearenv`.
    """
    command = walls(request, program=program, filter_fd=filter_fd, shares_terminal=shares_terminal)
    for mount in mounts(request):
        command += mount
    if status_fd is not None:
        command += ["--json-status-fd", str(status_fd)]
    return [*command, "--chdir", request.chdir, "--", *argv]


def walls(
    request: Request, *, program: str, filter_fd: int | None = None, shares_terminal: bool = False
) -> list[str]:
    """Return the start of a bubblewrap command line: an empty root, and little shared.

    A new session keeps a process off the terminal. Sharing the terminal is safe only with the filter.
    """
    return [
        program,
        "--unshare-all",
        # Without it, bubblewrap as root keeps root's own namespace, where a read-only mount can be undone.
        "--unshare-user",
        *(["--uid", str(request.user), "--gid", str(request.user)] if request.user is not None else []),
        *(["--share-net"] if request.network else []),
        *("--cap-drop", "ALL", "--die-with-parent"),
        *([] if shares_terminal else ["--new-session"]),
        *([] if filter_fd is None else ["--seccomp", str(filter_fd)]),
        *("--tmpfs", "/", "--dev", "/dev", "--proc", "/proc"),
        # Writes there as root affect the whole machine, and bubblewrap leaves it writable.
        *("--ro-bind", "/proc/sys", "/proc/sys"),
    ]


def depth(path: str, order: int) -> tuple[int, int, str]:
    """Return a sort key for path rules: outer paths first, rules of one path by `order`."""
    return path.rstrip("/").count("/"), order, path


def mounts(request: Request) -> list[list[str]]:
    """Return every mount in order; the last word of each is its path."""
    if "/" in (*request.writable, *request.hidden):
        # A mount on the root would cover /dev and /proc, which are mounted before it.
        raise ValueError("the root can be neither writable nor hidden")
    planned: list[tuple[str, int, list[str]]] = []
    private = ["--bind", request.tmp, PRIVATE_TMP] if request.tmp else ["--tmpfs", PRIVATE_TMP]
    planned.append((PRIVATE_TMP, 0, private))
    planned += [(path, 0, ["--dir", path]) for path in (*_EMPTY, *((request.home,) if request.home else ()))]
    planned += [(path, 0, ["--symlink", target, path]) for path, target in request.links]
    planned += [(path, 1, ["--tmpfs", path]) for path in request.hidden]
    planned += [(path, 1, ["--ro-bind", "/dev/null", path]) for path in request.hidden_files]
    planned += [(path, 2, ["--ro-bind", path, path]) for path in request.readable if path != "/"]
    planned += [(path, 3, ["--bind", path, path]) for path in request.writable]
    planned += [(path, 4, ["--ro-bind", path, path]) for path in request.read_only]
    planned += [
        (placed.at, 5, ["--bind" if placed.writable else "--ro-bind", placed.folder, placed.at])
        for placed in request.placed
    ]
    ordered = [mount for _, _, mount in sorted(planned, key=lambda pair: depth(pair[0], pair[1]))]
    return [*ordered, *(["--remount-ro", path] for path in (*request.hidden, "/"))]


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(",", "\\,")


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1  # all rights of ABI 1
_REFER = 1 << 13
READ = EXECUTE | READ_FILE | READ_DIR
TCP = 0b11  # bind and connect
SCOPES = 0b11  # abstract sockets and signals

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_MAC_DEVICES = ("/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/dtracehelper")
# A process that can reach one of these can start programs outside the profile.
_LAUNCHERS = ("com.apple.coreservices.launchservicesd", "com.apple.coreservices.appleevents")


class Rules(NamedTuple):
    """Rules for the kernel: handled rights are refused unless a rule gives them back below a path."""

    files: int
    network: int
    scopes: int
    paths: tuple[tuple[str, int], ...]


def landlock_rules(request: Request, *, abi: int) -> Rules:
    """Return the rules for a command in plan mode: it reads what is shown, and writes only to devices."""
    more = ((2, _REFER), (3, TRUNCATE), (5, IOCTL_DEV))
    files = _FIRST | sum(right for since, right in more if abi >= since)
    device = (WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV) & files
    shown = dict.fromkeys((*(path for path, _ in request.links), "/proc", *request.readable, request.chdir))
    return Rules(
        files=files,
        network=0 if request.network or abi < 4 else TCP,
        scopes=SCOPES if abi >= 6 else 0,
        paths=(*((path, READ) for path in shown), *((path, device) for path in DEVICES)),
    )


def profile(request: Request) -> str:
    """Write the profile. The last matching rule decides, so deeper paths come later."""
    planned = [
        *_planned(1, "deny file-read* file-write*", "subpath", request.hidden),
        *_planned(1, "deny file-read* file-write*", "literal", request.hidden_files),
        *_planned(2, "allow file-read*", "subpath", request.readable),
        *_planned(3, "allow file-read* file-write*", "subpath", request.writable),
        *_planned(3, "allow file-read* file-write*", "subpath", (request.tmp,) if request.tmp else ()),
        *_planned(4, "deny file-write*", "subpath", request.read_only),
    ]
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        "(deny appleevent-send)",
        *(f"(deny mach-lookup (global-name {_quoted(name)}))" for name in _LAUNCHERS),
        *(f"(allow file-write* (literal {_quoted(name)}))" for name in _MAC_DEVICES),
        *([] if request.network else ["(deny network*)"]),
        *(rule for _, rule in sorted(planned)),
    ]
    return "\n".join(lines) + "\n"


def _planned(
    order: int, rule: str, match: str, paths: Iterable[str]
) -> list[tuple[tuple[int, int, str], str]]:
    return [(depth(path, order), f"({rule} ({match} {_quoted(path)}))") for path in paths]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
