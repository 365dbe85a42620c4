"""Messages for programs that may not run in plan mode: what they do, and what may run instead.

The program is refused before this module is loaded.
"""

from __future__ import annotations

# fmt: off
_KINDS = (
    ("reaches the network or another machine", "", (
        "aria2c aws az curl dig docker-compose ftp gcloud getent gh glab host kubectl lftp nc ncat netcat"
        " nslookup ping podman rsync scp sftp socat ssh telnet tftp wget xh traceroute whois http openssl"
    )),
    ("installs or fetches packages", "cat package.json, cat pyproject.toml", (
        "apt apt-get brew bundle composer conda corepack dnf gradle mvn npx pipx pnpm snap yarn yum apk"
        " bunx uvx"
    )),
    ("changes files", "cat FILE, ls -la FILE", (
        "chgrp chmod chown cp dd install ln mkdir mkfifo mknod mktemp mv patch rm rmdir rsync sed shred"
        " split csplit tee touch truncate unlink ex ed"
    )),
    ("runs whatever it is given", "the command itself, without it", (
        "bash dash eval env exec fish ionice ksh nohup parallel setsid sh stdbuf sudo doas su source . trap"
        " xargs zsh flock unshare script watch strace ltrace gdb chroot systemd-run builtin coproc"
    )),
    ("shows or changes the shell's variables, which may hold secrets", "", (
        "alias declare export hash let local mapfile printenv read readarray readonly set shopt typeset"
        " ulimit umask unalias unset complete bind fc history enable"
    )),
    ("waits for a terminal", "cat FILE, head -n 80 FILE", (
        "less more man info vi vim nvim nano emacs top htop pico"
    )),
    ("acts on processes or on the system", "ps -ef", (
        "kill killall pkill at batch crontab dmesg iptables ip mount umount passwd reboot shutdown"
        " systemctl service sysctl useradd usermod chsh nft swapoff"
    )),
    ("is a control structure, which is not read", "the commands one after another, joined by && or ;", (
        "if then else elif fi for while until do done case esac select function { } (("
    )),
)
# fmt: on


def said_of(name: str) -> tuple[str, str]:
    """Return what a program does that plan mode forbids, and the nearest allowed form."""
    for why, allowed, names in _KINDS:
        if name in names.split():
            return f"{name} {why}", allowed
    return f"{name} is not on the list of programs that only read", ""
