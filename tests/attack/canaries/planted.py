"""Plant secrets where people have them: homes, other folders, sockets, the keyring, the environment."""

from __future__ import annotations

import ctypes
import platform
import socket
import uuid
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IN_HOME = (
    # Logins of agents.
    *(".claude/.credentials.json", ".claude.json", ".claude/settings.json", ".claude/history.jsonl"),
    *(".claude/projects/-home-ann-bank/1.jsonl", ".codex/auth.json", ".codex/config.toml"),
    *(".codex/history.jsonl", ".gemini/oauth_creds.json", ".gemini/.env", ".gemini/tmp/bank/logs.json"),
    *(
        ".local/share/opencode/auth.json",
        ".config/opencode/opencode.json",
        ".config/github-copilot/apps.json",
    ),
    *(".cursor/mcp.json", ".aider.conf.yml", ".config/goose/secrets.yaml", ".continue/config.json"),
    # Clouds and forges.
    *(".aws/credentials", ".aws/sso/cache/1.json", ".azure/msal_token_cache.json", ".config/gh/hosts.yml"),
    *(".config/gcloud/application_default_credentials.json", ".config/glab-cli/config.yml", ".kube/config"),
    *(
        ".docker/config.json",
        ".oci/config",
        ".terraform.d/credentials.tfrc.json",
        ".config/doctl/config.yaml",
    ),
    *(".config/heroku/auth", ".fly/config.yml", ".vercel/auth.json", ".config/netlify/config.json"),
    *(".config/stripe/config.toml", ".wrangler/config/default.toml", ".snowflake/connections.toml"),
    # Registries.
    *(
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".config/pip/pip.conf",
        ".cargo/credentials.toml",
        ".gem/credentials",
    ),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json", ".nuget/NuGet/NuGet.Config"),
    *(".huggingface/token", ".cache/huggingface/token", ".kaggle/kaggle.json", ".config/wandb/settings"),
    # Machines and databases.
    *(".ssh/id_ed25519", ".ssh/config", ".gnupg/private-keys-v1.d/1.key", ".netrc", ".git-credentials"),
    *(".config/git/credentials", ".gitconfig", ".pgpass", ".my.cnf", ".config/rclone/rclone.conf", ".s3cfg"),
    *(
        ".vault-token",
        ".config/sops/age/keys.txt",
        ".password-store/bank.gpg",
        ".local/share/keyrings/login.keyring",
    ),
    # Browsers, histories, papers, other work.
    *(".mozilla/firefox/1.default/logins.json", ".config/google-chrome/Default/Login Data"),
    *(
        ".config/BraveSoftware/Brave-Browser/Default/Cookies",
        ".bash_history",
        ".zsh_history",
        ".psql_history",
    ),
    *("Documents/taxes.txt", "Desktop/passwords.txt", "Downloads/key.pem", "bank/.env", "bank/src/keys.py"),
    # Inside installations, which are shown.
    *(
        ".pyenv/.git/config",
        ".pyenv/versions/3.12.1/pip.conf",
        ".pyenv/.env",
        ".asdf/plugins/node/.git/config",
    ),
    *(".rustup/settings/auth.json", ".volta/hooks.json", "go/src/bank/.env", "go/pkg/mod/cache/vcs/1/config"),
    *(".config/asbuilt/asbuilt.toml", "notes.txt", ".config/Slack/Cookies", ".ethereum/keystore/1"),
)
BESIDE = ("other/home/.ssh/id_rsa", "srv/app/.env", "mnt/backup/dump.sql", "var/lib/app/token")
KEY = "asbuilt-canary"
_SESSION_KEYRING = -3
_ADD_KEY = {"x86_64": 248, "aarch64": 217}


@dataclass(frozen=True)
class Planted:
    """What was planted, and the word by which it is known."""

    word: str
    spec: dict[str, Any]
    count: int


@contextmanager
def planted(home: Path, beside: Path) -> Iterator[Planted]:
    """Plant everything; sockets are open as long as this lasts."""
    word = f"canary-{uuid.uuid4().hex}"
    files = [*(home / name for name in IN_HOME), *(beside / name for name in BESIDE)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"token = {word}\n")
    paths = [
        *(home / ".1password.sock", home / ".docker/run/docker.sock", home / ".pyenv/agent.sock"),
        beside / "run/agent.sock",
    ]
    abstract = f"asbuilt-{word}"
    with ExitStack() as stack:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        for address in [*map(str, paths), f"\0{abstract}"]:
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        number = _ADD_KEY.get(platform.machine())
        if number is not None:
            ctypes.CDLL(None).syscall(
                number, b"user", KEY.encode(), word.encode(), len(word), _SESSION_KEYRING
            )
        spec: dict[str, Any] = {
            "word": word,
            "walk": ["/", str(home), str(beside)],
            "files": [str(file) for file in files],
            "sockets": [str(path) for path in paths],
            "abstract": [abstract],
            "tcp": [["127.0.0.1", server.getsockname()[1]]],
            "key": KEY,
        }
        yield Planted(word, spec, len(files) + len(paths) + 3)
