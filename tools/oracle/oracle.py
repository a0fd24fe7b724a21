"""Says whether a server would start, by the server's own code, for one case per line of standard input.

Run with the Python of a server's environment: oracle.py PACKAGE FOLDER, where PACKAGE is `llama_stack` or `ogx`, and FOLDER belongs to
this process alone. A case is {"command": [program, ...], "env": {...}, "config": text, "configFile": path}; the answer is
{"outcome": "starts" | "fails" | "unknown", "error": text or null, "where": text or null}. It is unknown for want of network, or of a
Python package or a part of Python that the image has. All modules are loaded once, and each case runs in a fork: its environment and its tables are its own.
"""
import asyncio
import gc
import importlib
import json
import logging
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback

PACKAGE, FOLDER = sys.argv[1:3]
HOME = os.path.join(FOLDER, "home")
TOOLS = os.path.join(FOLDER, "tools")

# Seconds that a case may take: a server that waits longer waits for the network.
CASE_SECONDS = 60

# Instead of python3, so that the start command of the pod ends with what it would have run, and with its environment.
STAND_IN = """#!/bin/sh
env -0 > "$ORACLE_FOLDER/env"
printf '%s\\0' "$@" > "$ORACLE_FOLDER/arguments"
"""


def prepare():
    os.makedirs(TOOLS, exist_ok=True)
    os.makedirs(HOME, exist_ok=True)
    for name in ("python", "python3"):
        path = os.path.join(TOOLS, name)
        with open(path, "w") as file:
            file.write(STAND_IN)
        os.chmod(path, 0o755)


def preload(modules):
    """Loads what a case has loaded, so that the next one has it. A module without its packages is tried again by each case."""
    for name in modules:
        try:
            importlib.import_module(name)
        except BaseException:
            continue


def share():
    """What takes a server a second, and is the same for all cases."""
    try:
        import tiktoken

        tiktoken.get_encoding("cl100k_base")
    except ModuleNotFoundError:
        pass
    try:
        from llama_stack.models.llama.llama3.tokenizer import Tokenizer

        # Of Llama Stack 0.2, which keeps it, too.
        Tokenizer.get_instance()
    except (ImportError, OSError):
        pass
    try:
        from databricks.sdk.clock import RealClock

        # A client goes on trying for 300 seconds of its clock.
        RealClock.time = lambda self: 100 * time.time()
    except ImportError:
        pass
    import ssl

    # The certificates that come with Python and with the system, once for each of forty clients; nothing is reached with them.
    ssl.SSLContext.set_default_verify_paths = lambda self: None
    load = ssl.SSLContext.load_verify_locations
    of_system = ssl.get_default_verify_paths().cafile

    def load_others(self, cafile=None, *args, **kwargs):
        if cafile != of_system and not str(cafile).endswith(os.path.join("certifi", "cacert.pem")):
            load(self, cafile, *args, **kwargs)

    ssl.SSLContext.load_verify_locations = load_others
    # Half of a start: the log with its colours, which nobody reads.
    logging.Handler.handle = lambda self, record: record
    logging.Manager._clear_cache = lambda self: None
    at_once()
    unsynced()
    # Nothing changes while a client waits before it tries again.
    asyncio.sleep = sooner(asyncio.sleep)
    time.sleep = sooner(time.sleep)
    import fastapi.routing

    # Half of a start: the same routes whatever the config. No request comes.
    fastapi.routing.APIRouter.add_api_route = lambda self, *_, **__: None


def at_once():
    """A third of a start: statements of sqlite go to a thread each, and their results come back."""
    try:
        from aiosqlite import Connection
    except ModuleNotFoundError:
        return

    async def execute(self, function, *args, **kwargs):
        if not self._running or not self._connection:
            raise ValueError("Connection closed")
        return function(*args, **kwargs)

    async def connected(self):
        self._connection = self._connection or self._connector()
        return self

    async def close(self):
        self._running = False
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    Connection._execute = execute
    Connection.close = close
    Connection.__await__ = lambda self: connected(self).__await__()


def unsynced():
    """A quarter of a start: the disk has each transaction before the next begins."""
    import sqlite3

    connect = sqlite3.connect

    def connected(*args, **kwargs):
        connection = connect(*args, **kwargs)
        try:
            connection.execute("PRAGMA synchronous = OFF").close()
        except sqlite3.Error:
            # The server finds it with its first statement.
            pass
        return connection

    sqlite3.connect = connected


def sooner(sleep):
    return lambda delay, *args, **kwargs: sleep(delay / 20, *args, **kwargs)


class Blocked(ConnectionRefusedError):
    pass


blocked = []


def close_network():
    """A connection is refused at once, as by a host without that port, and noted."""

    def refuse(self, address, *_):
        if self.family == socket.AF_UNIX:
            return connect(self, address)
        blocked.append(str(address))
        raise Blocked(111, "Connection refused")

    def unknown(host, *args, **kwargs):
        if host in (None, "127.0.0.1", "::1", "localhost", "0.0.0.0", ""):
            return lookup(host, *args, **kwargs)
        blocked.append(str(host))
        raise socket.gaierror(-2, "Name or service not known")

    connect, lookup = socket.socket.connect, socket.getaddrinfo
    socket.socket.connect = refuse
    socket.socket.connect_ex = refuse
    socket.getaddrinfo = unknown
    # Seconds that a client of MongoDB goes on trying, unless its address says otherwise: 30 by default.
    if "pymongo.common" in sys.modules:
        sys.modules["pymongo.common"].SERVER_SELECTION_TIMEOUT = 0.5


def started_by(case):
    """What the start command would run, and its environment."""
    env = {**case["env"], "ORACLE_FOLDER": FOLDER, "PATH": f"{TOOLS}:/usr/local/bin:/usr/bin:/bin"}
    for name in ("env", "arguments"):
        if os.path.exists(os.path.join(FOLDER, name)):
            os.remove(os.path.join(FOLDER, name))
    done = subprocess.run(case["command"], env=env, cwd=HOME, capture_output=True, timeout=CASE_SECONDS)
    if not os.path.exists(os.path.join(FOLDER, "arguments")):
        raise RuntimeError(f"the start command ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    with open(os.path.join(FOLDER, "arguments"), "rb") as file:
        arguments = file.read().split(b"\0")[:-1]
    with open(os.path.join(FOLDER, "env"), "rb") as file:
        pairs = [pair.split(b"=", 1) for pair in file.read().split(b"\0") if b"=" in pair]
    return arguments, {name: value for name, value in pairs}


async def lifespan_of(app):
    async with app.router.lifespan_context(app):
        # An end in good order takes seconds.
        answered({"outcome": "starts", "error": None, "where": None})


def start(arguments):
    words = [os.fsdecode(word) for word in arguments]
    if words[:2] == ["-m", "uvicorn"]:
        module, _, factory = words[words.index("--factory") + 1].partition(":")
        app = getattr(importlib.import_module(module), factory)()
        asyncio.run(lifespan_of(app))
        return
    run_program(words)


def run_program(words):
    """A server that is started by a module or a script of its own: up to the point where it would serve."""
    import runpy

    import uvicorn

    def serve(app, *_, **__):
        asyncio.run(lifespan_of(app))

    async def serve_config(self, *_, **__):
        await lifespan_of(self.config.app)

    uvicorn.run = serve
    uvicorn.Server.serve = serve_config
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        exec(compile(words[1], "<command>", "exec"), {"__name__": "__main__"})
    else:
        raise RuntimeError(f"no known way to start a server: {words[:3]}")


def chain(error, seen=None):
    """An error and what it came from, which may be in a circle."""
    seen = [] if seen is None else seen
    while error is not None and not any(error is one for one in seen):
        seen.append(error)
        yield error
        for one in getattr(error, "exceptions", None) or ():
            yield from chain(one, seen)
        error = error.__cause__ or error.__context__


def missing(error):
    """The package that is not installed here."""
    for one in chain(error):
        if isinstance(one, ModuleNotFoundError) and one.name:
            if not one.name.startswith(PACKAGE):
                return one.name
        elif isinstance(one, ImportError) and "torch" in str(one):
            return "torch"
        # What stands for it has little of it.
        elif isinstance(one, AttributeError) and getattr(one.obj, "__name__", None) == "torch":
            return "torch"
    return None


def is_of_network(error):
    """Clients have classes of their own for it; a plain or a pydantic error that speaks of a timeout is about a setting."""
    return any(
        isinstance(one, (ConnectionError, socket.gaierror, TimeoutError))
        or type(one).__module__.split(".")[0] not in ("builtins", "pydantic_core", "pydantic")
        and re.search("connect|timeout|timed out|unreachable|credentials", f"{type(one).__name__} {one}", re.IGNORECASE)
        for one in chain(error)
    )


def is_of_library(error, text):
    """Some clients connect without Python's sockets, and say why they could not."""
    if not re.search(r"(Could not connect|Fail connecting) to \w+", text):
        return False
    # A timeout of gRPC says nothing.
    causes = [str(one) for one in chain(error) if one is not error and str(one) != ""]
    # The last two are of sockets in folders, without the name of a file.
    unreached = "translate host|not known|DNS resolution failed|refused|timed out|timeout expired|on socket|(No such file or|Not a) directory$"
    return not causes or any(re.search(unreached, one) for one in causes)


def outcome_of(error):
    # A server that logs an error and ends: the error says more.
    if isinstance(error, SystemExit) and error.__context__ is not None:
        error = error.__context__
    where = traceback.extract_tb(error.__traceback__)
    at = next((f"{frame.filename.split('site-packages/')[-1]}:{frame.lineno}" for frame in reversed(where)), None)
    text = f"{type(error).__name__}: {error}"[:2000]
    package = missing(error)
    if package is not None:
        return {"outcome": "unknown", "error": f"package {package}: {text}", "where": at}
    # Python without loadable extensions of sqlite, which that of the images has.
    if any("enable_load_extension" in str(one) for one in chain(error)):
        return {"outcome": "unknown", "error": f"Python without extensions of sqlite: {text}", "where": at}
    # That of NVIDIA keeps the error of its request to itself.
    if blocked and "is not available from provider" in text:
        return {"outcome": "unknown", "error": f"network {blocked[-1:]}: {text}", "where": at}
    if (blocked and is_of_network(error)) or is_of_library(error, text):
        return {"outcome": "unknown", "error": f"network {blocked[-1:]}: {text}", "where": at}
    return {"outcome": "fails", "error": text, "where": at}


def judged(case):
    with open(case["configFile"], "w", encoding="utf-8", newline="") as file:
        file.write(case["config"])
    try:
        arguments, env = started_by(case)
        os.environb.clear()
        for name, value in env.items():
            os.environb[name] = value
        os.chdir(HOME)
        close_network()
        start(arguments)
        raise RuntimeError("the server ended by itself")
    except BaseException as error:
        answered(outcome_of(error))


def answered(answer):
    """Ends this fork and all that it started."""
    new = [name for name in list(sys.modules) if name not in LOADED and not name.startswith("__mp")]
    text = json.dumps({"answer": answer, "modules": new}).encode()
    while text:
        text = text[os.write(answer_to, text):]
    os.killpg(0, signal.SIGKILL)


answer_to = -1
LOADED = set()


def fork(case):
    """The answer of a fork, which may end in any way."""
    global answer_to
    # What is there already is of no interest to the collector of the fork, which would copy its pages.
    gc.freeze()
    read, answer_to = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        gc.disable()
        os.setsid()
        # Also where the parent is gone, which otherwise stops it.
        resource.setrlimit(resource.RLIMIT_CPU, (CASE_SECONDS, CASE_SECONDS))
        with open(os.path.join(FOLDER, "log"), "wb", buffering=0) as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        judged(case)
    os.close(answer_to)

    def late(*_):
        os.killpg(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, late)
    signal.alarm(CASE_SECONDS)
    with os.fdopen(read) as stream:
        text = stream.read()
    signal.alarm(0)
    os.waitpid(child, 0)
    # Afterwards: files of the next case may be there before it is asked about.
    shutil.rmtree(HOME, ignore_errors=True)
    os.makedirs(HOME, exist_ok=True)
    if text == "":
        return {"outcome": "unknown", "error": f"no answer within {CASE_SECONDS} s", "where": None}
    found = json.loads(text)
    preload(found["modules"])
    LOADED.update(sys.modules, found["modules"])
    return found["answer"]


def main():
    prepare()
    share()
    LOADED.update(sys.modules)
    for line in sys.stdin:
        print(json.dumps(fork(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
