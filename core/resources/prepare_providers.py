"""Installs external providers into a pod, before its server starts.

Runs in the image of the server, with the Python of the server. It checks what the images of the providers contain, unpacks
their wheels, imports every provider once, and writes the config of the server with the types and modules of the
providers. Nothing is downloaded. It needs nothing that a server does not have: the standard library, PyYAML and packaging.

The end of the run, good or bad, is one JSON object of at most 4096 bytes, which is all that Kubernetes keeps of a
container.
"""

import argparse
import base64
import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import traceback
import zipfile
import zlib
from email.parser import HeaderParser

import yaml

METADATA_FILE = "lls-provider-spec.yaml"
PACKAGES = "packages"
# Where the image has its folder; paths in the metadata may begin with it.
IMAGE_FOLDER = "/lls-provider/"
API_VERSION = "llamastack.io/v1alpha1"
KIND = "ProviderPackage"
# The name of an API in the metadata, where servers call it otherwise.
RENAMED_APIS = {"agents": "responses"}
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
PROVIDER_TYPE = re.compile(r"(remote|inline)::[A-Za-z0-9][A-Za-z0-9_.-]*")
# Distributions and packages of the servers themselves.
SERVERS = {"llama-stack": "Llama Stack", "ogx": "OGX"}
SERVER_DISTRIBUTIONS = ("llama-stack", "llama-stack-api", "ogx", "ogx-api")
SERVER_PACKAGES = ("llama_stack", "llama_stack_api", "ogx", "ogx_api")
IMPORT_SECONDS = 180
# What Kubernetes keeps of the end of a container.
REPORT_BYTES_MAX = 4096
MESSAGE_CHARACTERS_MAX = 1500
WARNING_CHARACTERS_MAX = 240


class Failure(Exception):
    """Why the server cannot start; the message ends a sentence about the provider."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True, help="folder with config.yaml and external-providers.json")
    parser.add_argument("--images", required=True, help="folder with a copy of /lls-provider per provider id")
    parser.add_argument("--packages", required=True, help="folder for the packages")
    parser.add_argument("--config", required=True, help="folder for the final config.yaml")
    parser.add_argument("--report", required=True, help="file for the result")
    paths = parser.parse_args()
    report, code = run(paths)
    text = bounded(report)
    try:
        with open(paths.report, "w") as file:
            file.write(text)
    except OSError as error:
        print(f"cannot write the result: {error}", file=sys.stderr)
    print(report.get("message") or text)
    return code


def run(paths):
    providers = []
    try:
        with open(os.path.join(paths.source, "external-providers.json")) as file:
            listed = json.load(file)["providers"]
        with open(os.path.join(paths.source, "config.yaml")) as file:
            config = yaml.safe_load(file)
        providers = [Provider(entry, os.path.join(paths.images, entry["id"])) for entry in listed]
        warnings = prepare(config, providers, paths)
    except Failure as failure:
        provider = getattr(failure, "provider", None)
        subject = "" if provider is None else f'External provider "{provider.id}" (image {provider.image}): '
        message = (subject + str(failure))[:MESSAGE_CHARACTERS_MAX]
        about = {} if provider is None else {"id": provider.id}
        return {"ok": False, **about, "reason": failure.reason, "message": message}, 1
    except Exception as error:
        traceback.print_exc()
        message = f"The external providers were not installed: {type(error).__name__}: {error}"
        return {"ok": False, "reason": "InstallationFailed", "message": message[:MESSAGE_CHARACTERS_MAX]}, 1
    installed = [{"id": provider.id, "version": provider.version, "type": provider.type} for provider in providers]
    return {"ok": True, "providers": installed, "warnings": warnings}, 0


def prepare(config, providers, paths):
    """Everything in order; nothing is written before all images are known to be fit."""
    server = Server()
    for provider in providers:
        with about(provider):
            provider.read()
            provider.check_server(server)
    wheels = chosen_wheels(providers, server)
    warnings = []
    for provider in providers:
        with about(provider):
            warnings += check_dependencies(provider, wheels, server)
    warnings += unpack(wheels, providers, paths.packages)
    for provider in providers:
        with about(provider):
            warnings += provider.load(paths.packages, server)
    complete(config, providers)
    write_config(config, paths.config)
    # The unpacked packages are all that is needed from here on.
    shutil.rmtree(paths.images, ignore_errors=True)
    return warnings


class about:
    """Says which provider a failure is about."""

    def __init__(self, provider):
        self.provider = provider

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, trace):
        if isinstance(failure, Failure) and not hasattr(failure, "provider"):
            failure.provider = self.provider
        return False


class Server:
    """The server of this image, and what is installed with it."""

    def __init__(self):
        self.installed = {}
        for distribution in importlib.metadata.distributions():
            name = distribution.metadata["Name"]
            # The first one on the path is the one that is imported.
            if name and canonical(name) not in self.installed:
                self.installed[canonical(name)] = distribution
        found = [name for name in SERVERS if name in self.installed]
        if not found:
            raise Failure("ServerUnknown", "the server image has no package of Llama Stack or OGX")
        self.distribution = found[-1]
        self.name = f"{SERVERS[self.distribution]} {self.installed[self.distribution].version}"
        self.python = f"Python {sys.version_info.major}.{sys.version_info.minor}"


class Provider:
    def __init__(self, entry, folder):
        self.id = entry["id"]
        self.api = entry["api"]
        self.image = entry["image"]
        self.folder = folder
        self.version = ""

    def has(self, path):
        """A file of the image, and no link to one of this container."""
        real = os.path.realpath(os.path.join(self.folder, path))
        return os.path.isfile(real) and real.startswith(os.path.realpath(self.folder) + os.sep)

    def read(self):
        path = os.path.join(self.folder, METADATA_FILE)
        if not self.has(METADATA_FILE):
            raise Failure("ProviderMetadataMissing", f"the image has no file {IMAGE_FOLDER}{METADATA_FILE}")
        try:
            with open(path) as file:
                document = yaml.safe_load(file)
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            text = " ".join(str(error).split())
            raise Failure("ProviderMetadataInvalid", f"{METADATA_FILE} is not valid YAML: {text}") from None
        self.check_metadata(document)
        self.wheels = self.read_wheels()

    def check_metadata(self, document):
        def field(path, pattern=None, expected="a text"):
            value = document
            for key in path.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            # A version such as 1.0 is a number in YAML.
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                value = str(value)
            valid = isinstance(value, str) and value != "" and (pattern is None or re.fullmatch(pattern, value))
            if not valid:
                found = "nothing" if value is None else json.dumps(value, default=str)[:100]
                raise Failure(
                    "ProviderMetadataInvalid", f"{METADATA_FILE}: {path} must be {expected}, and is {found}"
                )
            return value

        field("apiVersion", re.escape(API_VERSION), f'"{API_VERSION}"')
        field("kind", KIND, f'"{KIND}"')
        field("metadata.name")
        self.version = field("metadata.version")[:64]
        field("metadata.vendor")
        self.module = field("spec.packageName", MODULE, "a dotted name of a Python package")
        self.type = field("spec.providerType", PROVIDER_TYPE, "such as remote::name or inline::name")
        api = field("spec.api")
        if self.api not in (api, RENAMED_APIS.get(api, api)):
            raise Failure(
                "ProviderApiMismatch",
                f"the image contains a provider of the {api} API, but it is listed under {self.api}; "
                f"list it under {camel(api)}",
            )
        specified = document["spec"].get("wheelPath")
        listed = document["spec"].get("dependencyWheels") or []
        if not isinstance(listed, list):
            raise Failure("ProviderMetadataInvalid", f"{METADATA_FILE}: spec.dependencyWheels must be a list of paths")
        ignored = document["spec"].get("ignoredDependencies") or []
        if not isinstance(ignored, list):
            raise Failure("ProviderMetadataInvalid", f"{METADATA_FILE}: spec.ignoredDependencies must be a list of names")
        self.ignored = {canonical(str(name)) for name in ignored}
        for path in ([] if specified is None else [specified]) + listed:
            if not self.has(str(path).removeprefix(IMAGE_FOLDER)):
                raise Failure("ProviderPackagesMissing", f"the image has no file {path}, which {METADATA_FILE} names")

    def read_wheels(self):
        folder = os.path.join(self.folder, PACKAGES)
        names = sorted(name for name in os.listdir(folder) if name.endswith(".whl")) if os.path.isdir(folder) else []
        if not names:
            raise Failure("ProviderPackagesMissing", f"the image has no wheel in {IMAGE_FOLDER}{PACKAGES}")
        wheels = []
        for name in names:
            if not self.has(os.path.join(PACKAGES, name)):
                raise Failure("ProviderPackagesInvalid", f"{name} is not a valid wheel: it is not a file of the image")
            wheel = Wheel(os.path.join(folder, name), self)
            other = next((other for other in wheels if other.name == wheel.name), None)
            if other is not None:
                raise Failure(
                    "ProviderPackagesInvalid",
                    f"the image has two wheels of {wheel.name}: {other.version} and {wheel.version}; remove one of them",
                )
            wheels.append(wheel)
        return wheels

    def check_server(self, server):
        for wheel in self.wheels:
            wheel.check_fit(server)
            for requirement in wheel.requirements(""):
                name = canonical(requirement.name)
                if name not in SERVER_DISTRIBUTIONS:
                    continue
                found = server.installed.get(name)
                if found is None or not requirement.specifier.contains(found.version, prereleases=True):
                    raise Failure(
                        "ProviderServerMismatch",
                        f"it requires {requirement}, but the server is {server.name}; use a version of the "
                        "provider for this server",
                    )

    def load(self, packages, server):
        """Imports the provider as the server does, in a process of its own."""
        found = import_provider(self.module, packages)
        where = f"{self.module}.provider"
        if "missing" in found:
            top = found["missing"].split(".")[0]
            if found["missing"] in (where, self.module) or self.module.startswith(found["missing"] + "."):
                raise Failure("ProviderImportFailed", f"its packages contain no module {where}")
            if top in SERVER_PACKAGES:
                raise Failure(
                    "ProviderServerMismatch",
                    f"it imports {top}, which the server {server.name} does not have; use a version of the provider "
                    "for this server",
                )
            raise Failure(
                "ProviderDependencyMissing",
                f"it imports {top}, which neither the image nor the server has; add its wheel to "
                f"{IMAGE_FOLDER}{PACKAGES}",
            )
        if "error" in found:
            raise Failure("ProviderImportFailed", f"{where} cannot be loaded: {found['error']}")
        specs = found["specs"]
        other = next((spec for spec in specs if spec["api"] != self.api), None)
        if other is not None:
            raise Failure(
                "ProviderApiMismatch",
                f"its code is a provider of the {other['api']} API, but it is listed under {self.api}",
            )
        types = [spec["type"] for spec in specs]
        if self.type in types:
            return []
        if len(types) != 1:
            raise Failure(
                "ProviderSpecInvalid",
                f"get_provider_spec() of {where} has the types {', '.join(types) or 'none'}, and not {self.type}, "
                f"which {METADATA_FILE} declares",
            )
        declared, self.type = self.type, types[0]
        return [warning(self, f"{METADATA_FILE} declares type {declared}; its code, which counts, has {self.type}")]


class Wheel:
    def __init__(self, path, provider):
        self.path = path
        self.provider = provider
        self.file = os.path.basename(path)
        try:
            name, version, _, self.tags = packaging("utils").parse_wheel_filename(self.file)
            self.archive = zipfile.ZipFile(path)
            names = self.archive.namelist()
            info = [name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            if len(info) != 1:
                raise ValueError("one .dist-info/METADATA is needed")
            self.info = os.path.dirname(info[0])
            self.metadata = HeaderParser().parsestr(self.archive.read(info[0]).decode())
        except (ValueError, OSError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
            raise Failure("ProviderPackagesInvalid", f"{self.file} is not a valid wheel: {error}") from None
        self.name = canonical(name)
        self.version = str(version)
        self.checked_names(names)

    def checked_names(self, names):
        for name in names:
            if name.startswith("/") or "\\" in name or ".." in name.split("/"):
                raise Failure("ProviderPackagesInvalid", f"{self.file} has a file outside of its folder: {name[:100]}")
            if self.name not in SERVER_DISTRIBUTIONS and name.split("/")[0] in SERVER_PACKAGES:
                raise Failure(
                    "ProviderPackagesInvalid", f"{self.file} contains the package {name.split('/')[0]} of the server"
                )

    def check_fit(self, server):
        """Interpreter and architecture, by the names of the wheel."""
        python = self.metadata.get("Requires-Python")
        version = ".".join(map(str, sys.version_info[:3]))
        try:
            fits = python is None or packaging("specifiers").SpecifierSet(python).contains(version)
        except ValueError:
            fits = True
        if not fits:
            raise Failure("ProviderPythonMismatch", f"{self.file} needs Python {python}; the server runs {server.python}")
        supported = set(packaging("tags").sys_tags())
        if self.tags & supported:
            return
        machine = platform.machine()
        platforms = sorted({tag.platform for tag in self.tags})
        if not any(name == "any" or name.endswith(f"_{machine}") for name in platforms):
            raise Failure(
                "ProviderArchitectureMismatch",
                f"{self.file} is built for {', '.join(platforms)}, but this node is linux {machine}; build the image "
                "for the architecture of the node",
            )
        raise Failure(
            "ProviderPythonMismatch",
            f"{self.file} does not fit {server.python} of the server on this node; rebuild the image with wheels for it",
        )

    def requirements(self, extra):
        return parsed_requirements(self.metadata.get_all("Requires-Dist") or [], extra, self.file)


def parsed_requirements(lines, extra, source):
    """Those without extras for "", else those that the extra adds."""
    found = []
    for line in lines:
        try:
            requirement = packaging("requirements").Requirement(line)
        except ValueError:
            raise Failure("ProviderPackagesInvalid", f"{source} has an unreadable requirement: {line[:100]}") from None
        marker = requirement.marker
        plain = marker is None or marker.evaluate({"extra": ""})
        if plain if extra == "" else not plain and marker.evaluate({"extra": extra}):
            requirement.marker = None
            found.append(requirement)
    return found


def chosen_wheels(providers, server):
    """By name. What the server has stays where it is good enough: another version could break the server."""
    demands = {}
    for provider in providers:
        for wheel in provider.wheels:
            for requirement in wheel.requirements(""):
                demands.setdefault(canonical(requirement.name), []).append(requirement.specifier)
    wheels = {}
    for provider in providers:
        for wheel in provider.wheels:
            installed = server.installed.get(wheel.name)
            asked = demands.get(wheel.name, [])
            if installed is not None and (
                installed.version == wheel.version
                or asked and all(specifier.contains(installed.version, prereleases=True) for specifier in asked)
            ):
                continue
            if wheel.name in SERVER_DISTRIBUTIONS:
                failure = Failure(
                    "ProviderServerMismatch",
                    f"the image brings {wheel.name} {wheel.version}, but the server is {server.name}; remove that wheel",
                )
                failure.provider = provider
                raise failure
            other = wheels.setdefault(wheel.name, wheel)
            if other.version != wheel.version:
                failure = Failure(
                    "ProviderConflict",
                    f'the image brings {wheel.name} {wheel.version}, and that of external provider "{other.provider.id}" '
                    f"({other.provider.image}) brings {wheel.name} {other.version}; build both with the same version",
                )
                failure.provider = provider
                raise failure
    return wheels


def check_dependencies(provider, wheels, server):
    """A dependency that is missing is an error, one of another version a warning: many packages pin too narrowly."""
    warnings = []
    for wheel in provider.wheels:
        installed = server.installed.get(wheel.name)
        if installed is not None and wheels.get(wheel.name) is wheel:
            warnings.append(
                warning(provider, f"{wheel.name} {wheel.version} replaces {installed.version} of the server")
            )
    waiting = [(wheel, requirement) for wheel in provider.wheels for requirement in wheel.requirements("")]
    seen = set()
    missing = {}
    while waiting:
        wheel, requirement = waiting.pop(0)
        name = canonical(requirement.name)
        if name in SERVER_DISTRIBUTIONS or name in provider.ignored or (name, str(requirement)) in seen:
            continue
        seen.add((name, str(requirement)))
        found = wheels.get(name) or server.installed.get(name)
        if found is None:
            missing.setdefault(wheel, []).append(str(requirement))
            continue
        if not requirement.specifier.contains(found.version, prereleases=True):
            whose = "of the server" if found is server.installed.get(name) else "of an image"
            warnings.append(
                warning(provider, f"{wheel.name} {wheel.version} requires {requirement}, and {found.version} {whose} is used")
            )
        for extra in sorted(requirement.extras):
            lines = found.metadata.get_all("Requires-Dist") or []
            waiting += [(wheel, more) for more in parsed_requirements(lines, extra, name)]
    if missing:
        needs = "; ".join(f"{wheel.name} {wheel.version} requires {', '.join(all)}" for wheel, all in missing.items())
        raise Failure(
            "ProviderDependencyMissing",
            f"{needs}, which neither the image nor the server has; add the wheels to {IMAGE_FOLDER}{PACKAGES}, or name "
            f"packages that are not needed in spec.ignoredDependencies of {METADATA_FILE}",
        )
    return warnings


def unpack(wheels, providers, folder):
    """As the wheel format says, but for scripts, headers and data, which nothing here uses."""
    empty_folder(folder)
    own = {provider.module.split(".")[0] for provider in providers}
    owners = {}
    warnings = []
    for wheel in wheels.values():
        with about(wheel.provider):
            try:
                warnings += unpack_wheel(wheel, folder, owners, own)
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
                raise Failure("ProviderPackagesInvalid", f"{wheel.file} is damaged: {error}") from None
            except OSError as error:
                raise Failure("InstallationFailed", f"{wheel.file} cannot be unpacked: {error.strerror}") from None
    return warnings


def unpack_wheel(wheel, folder, owners, own):
    warnings = []
    recorded = recorded_digests(wheel)
    for entry in wheel.archive.infolist():
        target = target_of(entry.filename, wheel.info)
        if target is None or entry.is_dir():
            continue
        other = owners.get(target)
        # A file that is there already is only compared.
        digest = copied(wheel.archive, entry, os.path.join(folder, target) if other is None else None)
        if recorded.get(entry.filename, digest) != digest:
            raise Failure("ProviderPackagesInvalid", f"{wheel.file} is damaged: {entry.filename}")
        if other is None:
            owners[target] = (wheel, digest)
        elif other[0] is not wheel and other[1] != digest:
            if other[0].provider is not wheel.provider and target.split("/")[0] in own:
                raise Failure(
                    "ProviderConflict",
                    f"{wheel.file} and {other[0].file} of external provider "
                    f'"{other[0].provider.id}" ({other[0].provider.image}) both contain {target}',
                )
            if not warnings:
                warnings.append(warning(wheel.provider, f"{wheel.file} and {other[0].file} both contain {target}"))
    wheel.archive.close()
    return warnings


def copied(archive, entry, path):
    """Copies in pieces, since some libraries are larger than the memory of the pod; returns the digest."""
    digest = hashlib.sha256()
    if path is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with archive.open(entry) as source, open(os.devnull if path is None else path, "wb") as target:
        while piece := source.read(1 << 20):
            digest.update(piece)
            target.write(piece)
    return digest.digest()


def target_of(name, info):
    """Where a file of a wheel belongs; None for what is not installed."""
    data = info.removesuffix(".dist-info") + ".data/"
    if not name.startswith(data):
        return name
    scheme, _, rest = name.removeprefix(data).partition("/")
    return rest if scheme in ("purelib", "platlib") and rest else None


def recorded_digests(wheel):
    try:
        lines = wheel.archive.read(f"{wheel.info}/RECORD").decode().splitlines()
    except (KeyError, UnicodeDecodeError):
        return {}
    digests = {}
    for line in lines:
        found = re.fullmatch(r'"?(.+?)"?,sha256=([A-Za-z0-9_-]+),\d*', line)
        if found:
            digests[found[1].replace('""', '"')] = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
    return digests


# Prints nothing but to the pipe: a provider may print whatever it likes.
IMPORT = """
import importlib, json, os, sys
out = os.fdopen(int(sys.argv[1]), "w")
def tell(**result):
    json.dump(result, out)
    out.flush()
    os._exit(0)
def load(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        tell(missing=error.name or name)
    except BaseException as error:
        tell(error=f"{type(error).__name__}: {error}"[:600])
module = load(sys.argv[2] + ".provider")
if not callable(getattr(module, "get_provider_spec", None)):
    tell(error="it has no function get_provider_spec")
try:
    specs = module.get_provider_spec()
    specs = specs if isinstance(specs, list) else [specs]
    told = [{"api": str(getattr(s.api, "value", s.api)), "type": str(s.provider_type)} for s in specs]
except BaseException as error:
    tell(error=f"get_provider_spec() failed: {type(error).__name__}: {error}"[:600])
for spec in specs:
    name = getattr(spec, "module", None) or getattr(getattr(spec, "adapter", None), "module", None)
    implementation = load(name) if name else None
    if name and not any(hasattr(implementation, f) for f in ("get_adapter_impl", "get_provider_impl")):
        tell(error=f"{name} has neither get_adapter_impl nor get_provider_impl")
tell(specs=told)
"""


def import_provider(module, packages):
    reading, writing = os.pipe()
    path = os.pathsep.join(filter(None, [packages, os.environ.get("PYTHONPATH")]))
    # The output of the provider belongs into the log of this container.
    process = subprocess.Popen(
        [sys.executable, "-c", IMPORT, str(writing), module],
        env={**os.environ, "PYTHONPATH": path},
        pass_fds=[writing],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )
    os.close(writing)
    try:
        code = process.wait(IMPORT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return {"error": f"its import takes longer than {IMPORT_SECONDS} s"}
    finally:
        with os.fdopen(reading, errors="replace") as pipe:
            text = "" if process.poll() is None else pipe.read(65536)
    try:
        return json.loads(text)
    except ValueError:
        return {"error": f"its import ended the process with code {code}"}


def complete(config, providers):
    """Fills in type and module of each entry; everything else stays as it is."""
    for provider in providers:
        entries = config["providers"][provider.api]
        index = next(i for i, entry in enumerate(entries) if entry.get("provider_id") == provider.id)
        entries[index] = {
            "provider_id": provider.id,
            "provider_type": provider.type,
            "module": provider.module,
            "config": entries[index].get("config") or {},
        }


def write_config(config, folder):
    os.makedirs(folder, exist_ok=True)
    # A certificate may be mounted there, and nothing can be created below a read-only mount.
    os.makedirs(os.path.join(folder, "tls"), exist_ok=True)
    path = os.path.join(folder, "config.yaml")
    with open(f"{path}.part", "w") as file:
        yaml.safe_dump(config, file, sort_keys=False, allow_unicode=True)
    os.replace(f"{path}.part", path)


def empty_folder(folder):
    """A mount point can be emptied, but not removed."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)


def bounded(report):
    """The least important parts go first."""
    steps = [
        lambda: None,
        lambda: report.update(warnings=report.get("warnings", [])[:4]),
        lambda: report.pop("warnings", None),
        lambda: report.update(providers=[{"id": p["id"], "version": p["version"][:16]} for p in report.get("providers", [])]),
        lambda: report.pop("providers", None),
        lambda: report.update(message=report.get("message", "")[:500]),
    ]
    for step in steps:
        step()
        text = json.dumps(report, separators=(",", ":"))
        if len(text) <= REPORT_BYTES_MAX:
            return text
    return json.dumps({"ok": report["ok"], "reason": report.get("reason", "")})


def warning(provider, text):
    return f'External provider "{provider.id}": {text}'[:WARNING_CHARACTERS_MAX]


def packaging(module):
    """Part of every server, by itself or as a part of pip."""
    for name in ("packaging", "pip._vendor.packaging"):
        try:
            return importlib.import_module(f"{name}.{module}")
        except ImportError:
            continue
    raise Failure("ServerUnknown", "the server image has neither the Python package packaging nor pip")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def camel(api):
    words = {"datasetio": "datasetIo", "responses": "agents"}.get(api, api).split("_")
    return words[0] + "".join(word.capitalize() for word in words[1:])


if __name__ == "__main__":
    sys.exit(main())
