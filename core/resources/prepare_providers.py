"""Installs external providers into a pod, before its server starts.

Runs in the image of the server, with the Python of the server. It checks what the images of the providers contain, unpacks
their wheels, imports every provider once, and writes the config of the server with the types and modules of the
providers. Nothing is downloaded. It needs nothing that a server does not have: the standard library, PyYAML and packaging.

The end of the run, good or bad, is one JSON object, no longer than what Kubernetes keeps of the end of a container.
"""

import argparse
import base64
import contextlib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
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
LISTED_APIS = {
    *("inference", "safety", "agents", "responses", "vector_io", "datasetio", "scoring", "eval", "tool_runtime"),
    "post_training",
}
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
PROVIDER_TYPE = re.compile(r"(remote|inline)::[A-Za-z0-9][A-Za-z0-9_.-]*")
# Distributions and packages of the servers themselves.
SERVERS = {"llama-stack": "Llama Stack", "ogx": "OGX"}
PACKAGES_OF_SERVERS = {"llama-stack": "llama_stack", "ogx": "ogx"}
SERVER_DISTRIBUTIONS = ("llama-stack", "llama-stack-api", "ogx", "ogx-api")
SERVER_PACKAGES = ("llama_stack", "llama_stack_api", "ogx", "ogx_api")
# Older servers of Llama Stack take one spec from get_provider_spec(), and break at a list.
FIRST_WITH_LISTS = "0.3.5"
IMPORT_SECONDS = 180
# What the import of a provider may report.
RESULT_BYTES_MAX = 1 << 20
# What Kubernetes keeps of the end of a container at most.
REPORT_BYTES_MAX = 4096
# Larger than in any real package; `provider check` has the same bounds.
DESCRIPTION_BYTES_MAX = 64 * 1024
DESCRIPTION_ALIASES_MAX = 20
METADATA_BYTES_MAX = 4 << 20
RECORD_BYTES_MAX = 32 << 20
FILES_MAX = 65535
# Of file systems on Linux.
NAME_BYTES_MAX = 255
MESSAGE_CHARACTERS_MAX = 1500
WARNING_CHARACTERS_MAX = 240


# What reading a zip archive raises that is not one, or not a whole one.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, LookupError, NotImplementedError, OSError, RuntimeError, ValueError)


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
    parser.add_argument("--report-bytes", type=int, default=REPORT_BYTES_MAX, help="how long the result may be")
    paths = parser.parse_args()
    # Texts of providers are shown, and may contain what UTF-8 cannot express.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    report, code = run(paths)
    message = report.get("message")
    text = bounded(report, min(paths.report_bytes, REPORT_BYTES_MAX))
    try:
        with open(paths.report, "wb") as file:
            file.write(text)
    except OSError as error:
        print(f"cannot write the result: {error}", file=sys.stderr)
    print(message or text.decode())
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
    check_types(config, providers, server, paths.packages)
    complete(config, providers)
    write_config(config, paths.config)
    # The unpacked packages are all that is needed from here on.
    try:
        remove(paths.images)
    except OSError as error:
        # Only disk is lost; the server can start.
        print(f"the copies of the images cannot be removed: {error}", file=sys.stderr)
    return warnings


class about:
    """Says which provider a failure is about, also of a failure that nobody foresaw."""

    def __init__(self, provider):
        self.provider = provider

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not isinstance(error, Exception):
            return False
        failure = error
        if not isinstance(error, Failure):
            traceback.print_exception(kind, error, trace)
            failure = Failure("InstallationFailed", f"its files cannot be installed: {kind.__name__}: {error}")
        if not hasattr(failure, "provider"):
            failure.provider = self.provider
        raise failure from None


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
        self.package = PACKAGES_OF_SERVERS[self.distribution]
        version = self.installed[self.distribution].version
        self.name = f"{SERVERS[self.distribution]} {version}"
        parsed = packaging("version").Version
        self.takes_lists = self.distribution != "llama-stack" or parsed(version) >= parsed(FIRST_WITH_LISTS)
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
        try:
            real = os.path.realpath(os.path.join(self.folder, path))
            return os.path.isfile(real) and real.startswith(os.path.realpath(self.folder) + os.sep)
        except (ValueError, OSError):
            return False

    def read(self):
        path = os.path.join(self.folder, METADATA_FILE)
        if not self.has(METADATA_FILE):
            raise Failure("ProviderMetadataMissing", f"the image has no file {IMAGE_FOLDER}{METADATA_FILE}")
        with open(path, "rb") as file:
            text = file.read(DESCRIPTION_BYTES_MAX + 1)
        if len(text) > DESCRIPTION_BYTES_MAX:
            raise Failure(
                "ProviderMetadataInvalid", f"{METADATA_FILE} is larger than {DESCRIPTION_BYTES_MAX} bytes"
            )
        try:
            document = yaml.load(text.decode(), DescriptionLoader)
        # PyYAML raises many kinds of errors for values that it cannot construct.
        except Exception as error:
            reason = " ".join(str(error).split())[:MESSAGE_CHARACTERS_MAX]
            raise Failure("ProviderMetadataInvalid", f"{METADATA_FILE} is not valid YAML: {reason}") from None
        self.check_metadata(document)
        self.wheels = self.read_wheels()

    def check_metadata(self, document):
        def field(path, pattern=None, expected="a text"):
            value = document
            for key in path.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            # A version such as 1.0 is a number in YAML.
            if is_number(value):
                value = str(value)
            valid = isinstance(value, str) and value != "" and (pattern is None or re.fullmatch(pattern, value))
            if not valid:
                raise Failure(
                    "ProviderMetadataInvalid", f"{METADATA_FILE}: {path} must be {expected}, and is {shown(value)}"
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
                + (f"list it under {camel(api)}" if api in LISTED_APIS else "correct spec.api in the image"),
            )
        specified = document["spec"].get("wheelPath")
        if specified is not None and not isinstance(specified, str):
            raise Failure("ProviderMetadataInvalid", f"{METADATA_FILE}: spec.wheelPath must be a path")
        listed = self.texts(document, "dependencyWheels", "paths")
        self.ignored = {canonical(name) for name in self.texts(document, "ignoredDependencies", "names")}
        for path in ([] if specified is None else [specified]) + listed:
            if not self.has(path.removeprefix(IMAGE_FOLDER).lstrip("/")):
                raise Failure(
                    "ProviderPackagesMissing", f"the image has no file {path[:200]}, which {METADATA_FILE} names"
                )

    def texts(self, document, name, of):
        value = document["spec"].get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise Failure("ProviderMetadataInvalid", f"{METADATA_FILE}: spec.{name} must be a list of {of}")
        return value

    def read_wheels(self):
        folder = os.path.join(self.folder, PACKAGES)
        inside = os.path.realpath(folder).startswith(os.path.realpath(self.folder) + os.sep)
        names = os.listdir(folder) if inside and os.path.isdir(folder) else []
        names = sorted(name for name in names if name.endswith(".whl"))
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
        if "wrong" in found:
            raise Failure("ProviderSpecInvalid", f"get_provider_spec() of {where} {found['wrong']}")
        if found["list"] and not server.takes_lists:
            raise Failure(
                "ProviderSpecInvalid",
                f"get_provider_spec() of {where} returns a list, which {server.name} does not support; return one spec",
            )
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
        if not re.fullmatch(PROVIDER_TYPE, self.type):
            raise Failure(
                "ProviderSpecInvalid",
                f"get_provider_spec() of {where} has the type {shown(self.type)}; "
                "it must be such as remote::name or inline::name",
            )
        return [warning(self, f"{METADATA_FILE} declares type {declared}; its code, which counts, has {self.type}")]


class Wheel:
    def __init__(self, path, provider):
        self.path = path
        self.provider = provider
        self.file = os.path.basename(path)
        try:
            self.read()
        except DAMAGED as error:
            raise Failure("ProviderPackagesInvalid", f"{self.file} is not a valid wheel: {error}") from None
        for name in self.archive.namelist():
            self.check_place(name)

    def read(self):
        if not re.fullmatch(r"[^-]+-[^-]+(-\d[^-]*)?(-[A-Za-z0-9_.]+){3}\.whl", self.file):
            raise ValueError("its name is not NAME-VERSION-PYTHON-ABI-PLATFORM.whl")
        name, version, _, self.tags = packaging("utils").parse_wheel_filename(self.file)
        self.name = canonical(name)
        self.version = str(version)
        self.archive = zipfile.ZipFile(self.path)
        entries = self.archive.infolist()
        if len(entries) > FILES_MAX:
            raise ValueError(f"it has more than {FILES_MAX} files")
        if any(entry.flag_bits & 1 for entry in entries):
            raise ValueError("it is encrypted")
        if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
            raise ValueError("it is compressed in an unknown way")
        info = {entry.filename for entry in entries if re.fullmatch(r"[^/]+\.dist-info/METADATA", entry.filename)}
        if len(info) != 1:
            raise ValueError("one .dist-info/METADATA is needed")
        self.info = os.path.dirname(min(info))
        # Names of people may be in any encoding; what counts here is ASCII.
        text = self.text("METADATA", METADATA_BYTES_MAX)
        self.metadata = HeaderParser().parsestr(text)
        inner = self.metadata.get("Name")
        if inner is not None and canonical(str(inner)) != self.name:
            raise ValueError(f"its METADATA is that of {str(inner)[:100]}")

    def text(self, name, most):
        """What an archive says about the size of a file may be wrong."""
        with self.archive.open(f"{self.info}/{name}") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise ValueError(f"its {name} is too large")
        return data.decode(errors="replace")

    def check_place(self, name):
        parts = name.removesuffix("/").split("/")
        if "\\" in name or any(part in ("", ".", "..") for part in parts):
            raise Failure("ProviderPackagesInvalid", f"{self.file} has a file outside of its folder: {name[:100]}")
        if any(len(part.encode(errors="replace")) > NAME_BYTES_MAX for part in parts):
            raise Failure("ProviderPackagesInvalid", f"{self.file} has a file whose name is too long: {name[:100]}")
        target = target_of(name, self.info)
        if target is None or self.name in SERVER_DISTRIBUTIONS:
            return
        if top_module(target) in SERVER_PACKAGES:
            raise Failure("ProviderPackagesInvalid", f"{self.file} contains the package {top_module(target)} of the server")
        top = target.split("/")[0]
        if top.endswith(".dist-info") and top != self.info:
            raise Failure("ProviderPackagesInvalid", f"{self.file} contains the metadata of another package: {top[:100]}")

    def targets(self):
        """Where its files belong, without those that are not installed."""
        found = (target_of(entry.filename, self.info) for entry in self.archive.infolist() if not entry.is_dir())
        return {target for target in found if target is not None}

    def check_shadows(self, server):
        """Packages come first on the path of the server: what has the name of one of its modules replaces that module."""
        warnings = []
        for top in sorted({top_module(target) for target in self.targets() if is_whole_module(target)}):
            if top in sys.stdlib_module_names:
                raise Failure(
                    "ProviderPackagesInvalid", f"{self.file} contains {top}, a module of the standard library of Python"
                )
            owner = owner_of(top, server)
            if owner is not None and owner != self.name:
                warnings.append(warning(self.provider, f"{self.file} contains {top}, and replaces that of {owner} of the server"))
        return warnings

    def is_other_than(self, installed):
        """Whether a package of this name in the server has none of its modules; names alone say little."""
        if installed.files is None:
            return False
        own = {top_module(target) for target in self.targets()} - {None}
        theirs = {top_module(str(path)) for path in installed.files}
        module = self.provider.module.split(".")[0]
        return bool(own) and (not own & theirs or module in own - theirs)

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
            f"{self.file} is built for {', '.join(sorted(map(str, self.tags)))[:200]}, which does not fit "
            f"{server.python} of the server on this node; rebuild the image with wheels for it",
        )

    def requirements(self, extra):
        return parsed_requirements(self.metadata.get_all("Requires-Dist") or [], extra, self.file)


def parsed_requirements(lines, extra, source):
    """Those without extras for "", else those that the extra adds."""
    found = []
    for line in lines:
        try:
            requirement = packaging("requirements").Requirement(line)
            marker = requirement.marker
            plain = marker is None or marker.evaluate({"extra": ""})
            wanted = plain if extra == "" else not plain and marker.evaluate({"extra": extra})
        # A marker may compare what cannot be compared.
        except (ValueError, LookupError, RecursionError):
            raise Failure("ProviderPackagesInvalid", f"{source} has an unreadable requirement: {line[:100]}") from None
        if wanted:
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
        with about(provider):
            for wheel in provider.wheels:
                choose(wheel, wheels, demands.get(wheel.name, []), server)
    return wheels


def choose(wheel, wheels, asked, server):
    installed = server.installed.get(wheel.name)
    if installed is not None and (
        installed.version == wheel.version
        or asked and all(specifier.contains(installed.version, prereleases=True) for specifier in asked)
    ):
        if wheel.is_other_than(installed):
            raise Failure(
                "ProviderPackagesInvalid",
                f"{wheel.file} has the name of the package {wheel.name} of the server, and another content; rename it",
            )
        return
    if wheel.name in SERVER_DISTRIBUTIONS:
        raise Failure(
            "ProviderServerMismatch",
            f"the image brings {wheel.name} {wheel.version}, but the server is {server.name}; remove that wheel",
        )
    other = wheels.setdefault(wheel.name, wheel)
    if other.version != wheel.version:
        raise Failure(
            "ProviderConflict",
            f'the image brings {wheel.name} {wheel.version}, and that of external provider "{other.provider.id}" '
            f"({other.provider.image}) brings {wheel.name} {other.version}; build both with the same version",
        )


def check_dependencies(provider, wheels, server):
    """A dependency that is missing is an error, one of another version a warning: many packages pin too narrowly."""
    warnings = []
    for wheel in provider.wheels:
        installed = server.installed.get(wheel.name)
        if installed is not None and wheels.get(wheel.name) is wheel:
            warnings.append(
                warning(provider, f"{wheel.name} {wheel.version} replaces {installed.version} of the server")
            )
        if wheels.get(wheel.name) is wheel:
            warnings += wheel.check_shadows(server)
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
            except OSError as error:
                raise Failure("InstallationFailed", f"{wheel.file} cannot be unpacked: {error.strerror}") from None
            except DAMAGED as error:
                raise Failure("ProviderPackagesInvalid", f"{wheel.file} is damaged: {error}") from None
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
    # Zip archives made on Unix have the mode in the upper half.
    if path is not None and entry.external_attr >> 16 & 0o111:
        os.chmod(path, 0o755)
    return digest.digest()


def target_of(name, info):
    """Where a file of a wheel belongs; None for what is not installed."""
    data = info.removesuffix(".dist-info") + ".data/"
    if not name.startswith(data):
        return name
    scheme, _, rest = name.removeprefix(data).partition("/")
    return rest if scheme in ("purelib", "platlib") and rest else None


def top_module(target):
    """The name under which Python imports a file, or its outermost package; None if it does not."""
    top, _, rest = target.partition("/")
    if rest:
        return top
    return top.split(".")[0] if re.search(r"\.(py|pyc|so)$", top) else None


def is_whole_module(target):
    """A module, or the file that makes a package of a folder; other folders may be shared by many packages."""
    parts = target.split("/")
    return top_module(target) is not None and (len(parts) == 1 or len(parts) == 2 and parts[1].split(".")[0] == "__init__")


def owner_of(module, server):
    """The package of the server that has the module; None if there is none."""
    try:
        if importlib.util.find_spec(module) is None:
            return None
    except (ValueError, ImportError):
        return None
    for name, distribution in server.installed.items():
        if any(top_module(str(path)) == module for path in distribution.files or []):
            return name
    return None


def recorded_digests(wheel):
    try:
        lines = wheel.text("RECORD", RECORD_BYTES_MAX).splitlines()
    except KeyError:
        return {}
    digests = {}
    for line in lines:
        found = re.fullmatch(r'"?(.+?)"?,sha256=([A-Za-z0-9_-]+),\d*', line)
        if found:
            digests[found[1].replace('""', '"')] = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
    return digests


# Writes nothing but its result to the file: a provider may print whatever it likes.
TELL = """
import importlib, json, os, sys
def tell(**result):
    with os.fdopen(int(sys.argv[1]), "w") as out:
        json.dump(result, out)
    os._exit(0)
"""

IMPORT = TELL + """
def said(error):
    return f"{type(error).__name__}: {error}"[:600]
def load(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        tell(missing=str(error.name or name)[:200])
    except BaseException as error:
        tell(error=said(error))
def check_config_class(path):
    # As the server finds it, when it reads the config.
    try:
        module, _, name = path.rpartition(".")
        getattr(importlib.import_module(module), name)
    except BaseException as error:
        tell(wrong=f"has the config_class {path!s:.200}, which cannot be imported: {said(error)}")
module = load(sys.argv[2] + ".provider")
if not callable(getattr(module, "get_provider_spec", None)):
    tell(error="it has no function get_provider_spec")
try:
    found = module.get_provider_spec()
    specs = found if isinstance(found, list) else [found]
    told = [{"api": str(getattr(s.api, "value", s.api)), "type": str(s.provider_type)} for s in specs]
except BaseException as error:
    tell(error=f"get_provider_spec() failed: {said(error)}")
for spec in specs:
    adapter = getattr(spec, "adapter", None)
    name = getattr(spec, "module", None) or getattr(adapter, "module", None)
    implementation = load(name) if name else None
    if name and not any(hasattr(implementation, f) for f in ("get_adapter_impl", "get_provider_impl")):
        tell(error=f"{name} has neither get_adapter_impl nor get_provider_impl")
    config_class = getattr(spec, "config_class", None) or getattr(adapter, "config_class", None)
    if config_class:
        check_config_class(config_class)
tell(specs=told, list=isinstance(found, list))
"""

# The types that the server itself has, as it makes its registry.
TYPES = TELL + """
distribution = importlib.import_module(sys.argv[2] + ".core.distribution")
tell(types={api.value: sorted(types) for api, types in distribution.get_provider_registry().items()})
"""


def import_provider(module, packages):
    path = os.pathsep.join(filter(None, [packages, os.environ.get("PYTHONPATH")]))
    found = told(IMPORT, module, {**os.environ, "PYTHONPATH": path}, packages)
    if isinstance(found, str):
        return {"error": found}
    specs = found.get("specs")
    sound = isinstance(specs, list) and all(isinstance(s, dict) and {"api", "type"} <= s.keys() for s in specs)
    if sound and "list" in found or {"missing", "error", "wrong"} & found.keys():
        return found
    return {"error": "its import reported nothing that can be understood"}


def told(code, argument, env, folder):
    """The result of the code in a process of its own, or a sentence. A file in the folder takes the result: unlike a pipe,
    it is never full, and is not kept open by processes that the code leaves behind."""
    with tempfile.TemporaryFile(dir=folder) as file:
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(file.fileno()), argument],
            env=env,
            pass_fds=[file.fileno()],
            stdin=subprocess.DEVNULL,
            # The output of a provider belongs into the log of this container.
            stdout=sys.stderr,
            # A group of its own, so that what it left behind can be ended with it.
            start_new_session=True,
        )
        try:
            ended = process.wait(IMPORT_SECONDS)
        except subprocess.TimeoutExpired:
            return f"its import takes longer than {IMPORT_SECONDS} s"
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        file.seek(0)
        data = file.read(RESULT_BYTES_MAX + 1)
    if len(data) > RESULT_BYTES_MAX:
        return "its import reported too much"
    try:
        found = json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return f"its import ended the process with code {ended}"
    return found if isinstance(found, dict) else "its import reported nothing that can be understood"


def check_types(config, providers, server, folder):
    """The server knows an implementation by its API and type: a second one would replace the first without a word."""
    found = told(TYPES, server.package, dict(os.environ), folder)
    if isinstance(found, str):
        print(f"the provider types of the server are not known: {found}", file=sys.stderr)
        found = {}
    ids = {provider.id for provider in providers}
    seen = {}
    for provider in providers:
        with about(provider):
            users = [
                entry
                for entry in config["providers"].get(provider.api) or []
                if entry.get("provider_type") == provider.type and entry.get("provider_id") not in ids
                and entry.get("module") != provider.module
            ]
            if users or provider.type in found.get("types", {}).get(provider.api, []):
                by = "".join(f', which its provider "{entry.get("provider_id")}" uses' for entry in users[:1])
                raise Failure(
                    "ProviderConflict",
                    f"its type {provider.type} is one of the server {server.name}{by}; give it a type of its own",
                )
            other = seen.setdefault((provider.api, provider.type), provider)
            if other.module != provider.module:
                raise Failure(
                    "ProviderConflict",
                    f'its type {provider.type} is that of external provider "{other.id}" ({other.image}) too, whose '
                    "code is another one; give one of them a type of its own",
                )


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
        remove(os.path.join(folder, name))


def remove(path):
    """Also folders without permission to write, as some images have them."""
    if not os.path.isdir(path) or os.path.islink(path):
        os.remove(path)
        return
    # Folders of the kubelet belong to root, and anyone may write them.
    with contextlib.suppress(PermissionError):
        os.chmod(path, 0o700)
    for name in os.listdir(path):
        remove(os.path.join(path, name))
    os.rmdir(path)


def bounded(report, most):
    """The bytes of the report. The least important parts go first; id and reason never do."""
    steps = [
        lambda: None,
        lambda: report.update(warnings=report.get("warnings", [])[:4]),
        lambda: report.pop("warnings", None),
        lambda: report.update(providers=[{"id": p["id"], "version": p["version"][:16]} for p in report.get("providers", [])]),
        lambda: report.pop("providers", None),
        # The status has the image anyway.
        lambda: report.update(message=re.sub(r" \(image [^ ]*\)", "", report.get("message", ""), count=1)),
    ]
    for step in steps:
        step()
        text = encoded(report)
        if len(text) <= most:
            return text
    message = report["message"]
    while len(text) > most and message:
        # A character takes at most 6 bytes, those of an escape.
        message = message[: -((len(text) - most) // 6 + 1)]
        text = encoded({**report, "message": message})
    return text


def encoded(report):
    # Without escapes, which take twice the room; what is no character becomes a question mark.
    return json.dumps(report, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


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


class DescriptionLoader(yaml.SafeLoader):
    """Dates stay texts: a version may look like one. Aliases are bounded, as few of them can stand for millions of values."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    aliases = 0

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            self.aliases += 1
            if self.aliases > DESCRIPTION_ALIASES_MAX:
                raise yaml.YAMLError(f"more than {DESCRIPTION_ALIASES_MAX} aliases")
        return super().compose_node(parent, index)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1 << 53


def shown(value):
    """Short, however large the value is."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return json.dumps(value[:100], ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return str(value)
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else "another value"


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def camel(api):
    words = {"datasetio": "datasetIo", "responses": "agents"}.get(api, api).split("_")
    return words[0] + "".join(word.capitalize() for word in words[1:])


if __name__ == "__main__":
    sys.exit(main())
