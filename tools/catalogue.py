"""Prints as JSON what the provider registry of the installed server says. Run by catalogue.ts, which decides the rest."""

import importlib
import importlib.metadata
import importlib.util
import json
import re
import sys
import types
import typing
import warnings
from enum import Enum
from pathlib import Path, PurePath

import pydantic
from pydantic_core import PydanticUndefined, to_jsonable_python


def main(package: str, api_package: str = "") -> None:
    server = package.replace("-", "_")
    distribution = importlib.import_module(f"{server}.core.distribution")
    global asks
    kinds = storage_kinds(server)
    registry = distribution.get_provider_registry()
    origin = {"package": package, "version": importlib.metadata.version(package)}
    note_sections(server)
    if api_package:
        origin |= {"apiPackage": api_package, "apiVersion": importlib.metadata.version(api_package)}
    providers = {
        api.value: {type_: provider(spec, kinds) for type_, spec in specs.items()} for api, specs in registry.items() if specs
    }
    asks = True
    print(
        json.dumps(
            {
                "origin": origin,
                "apis": apis(distribution),
                "providers": providers,
                "backends": backends(server),
                "config": config_class(server),
                # Last, since all of these refer to them.
                "models": MODELS,
                "unexplained": sorted(UNEXPLAINED),
            }
        )
    )


# Whether validators of fields are asked for what they accept: those of providers often convert the value instead.
asks = False


def note_sections(server):
    """Before the providers, which have classes of sections as fields: those are asked for what they accept."""
    global asks
    section = getattr(importlib.import_module(f"{server}.core.datatypes"), "VectorStoresConfig", None)
    if section is not None:
        asks = True
        register(section)
        asks = False


def storage_kinds(server):
    """What marks a store: references since 0.3; before, the store itself, which is then always written."""
    try:
        storage = importlib.import_module(f"{server}.core.storage.datatypes")
    except ModuleNotFoundError:
        kv = importlib.import_module(f"{server}.providers.utils.kvstore.config")
        sql = importlib.import_module(f"{server}.providers.utils.sqlstore.sqlstore")
        return {"kv": kv.SqliteKVStoreConfig, "sql": sql.SqliteSqlStoreConfig}
    return {"kv": storage.KVStoreReference, "sql": storage.SqlStoreReference}


def backends(server):
    """The classes of `storage.backends`, by the value of their field `type`; there are none before 0.3."""
    try:
        storage = importlib.import_module(f"{server}.core.storage.datatypes")
    except ModuleNotFoundError:
        return {}
    return {
        config.model_fields["type"].default.value: {
            "fields": {name: info for name, info in fields(config).items() if name != "type"},
            "extra": extra(config),
            **rules(config),
        }
        for config in union_members(storage.StorageBackendConfig)
    }


def config_class(server):
    """The class of a whole config, and the ids without which the server leaves out an item of a list."""
    datatypes = importlib.import_module(f"{server}.core.datatypes")
    stack = importlib.import_module(f"{server}.core.stack")
    found = getattr(datatypes, "StackConfig", None) or datatypes.StackRunConfig
    # Its name is made a text before it is read.
    REWRITTEN[found] = {n for n in found.model_fields if hasattr(stack, f"cast_{n}_to_string")}
    # Up to 0.8, only the command of developers calls what replaces the version and fills what is empty.
    program = importlib.util.find_spec(f"{server}.core.server.server").origin
    is_upgraded = "parse_and_maybe_upgrade_config" in Path(program).read_text()
    if is_upgraded:
        REWRITTEN[found].add("version")
    if is_upgraded and hasattr(importlib.import_module(f"{server}.core.configure"), "EXTERNAL_PROVIDERS_DIR"):
        FILLED[found] = {"external_providers_dir"}
    return {"class": register(found), "ids": list(getattr(stack, "RESOURCE_ID_FIELDS", []))}


# Fields that the server writes or converts itself before the class reads them.
REWRITTEN = {}

# Fields in which the server writes something before the class reads them, if nothing is there.
FILLED = {}

# Maps whose values have a section of their own here.
SEPARATE = {("StorageConfig", "backends")}


def apis(distribution):
    pairs = {p.router_api: p.routing_table_api for p in distribution.builtin_automatically_routed_apis()}
    routers = {table: router for router, table in pairs.items()}

    def kind(api):
        if api in pairs:
            return {"kind": "routed", "table": pairs[api].value}
        if api in routers:
            return {"kind": "table", "router": routers[api].value}
        return {"kind": "internal" if api in distribution.INTERNAL_APIS else "direct"}

    return {api.value: kind(api) for api in distribution.stack_apis()}


def provider(spec, kinds):
    module, _, name = spec.config_class.rpartition(".")
    config = getattr(importlib.import_module(module), name)
    return {
        "fields": fields(config),
        "references": dict(references(config, kinds)),
        "requires": [api.value for api in spec.api_dependencies],
        "optional": [api.value for api in spec.optional_api_dependencies],
        "pip": list(spec.pip_packages),
        "extra": extra(config),
        "deprecated": spec.deprecation_error or spec.deprecation_warning,
    }


def fields(config):
    note_validators(config)
    return {
        names(config, n, f)[0]: field(config, n, f)
        for n, f in config.model_fields.items()
        if not (f.exclude and names(config, n, f) == [n])
    }


# Validators of which nobody has found out here what they demand: by class and field, or by class.
UNEXPLAINED = set()


def note_validators(config):
    for name, info in config.model_fields.items():
        if name in converted_fields(config) or name in validated_fields(config) and not demands(config, name, info):
            UNEXPLAINED.add(f"{config.__name__}.{name}")
    if config.__pydantic_decorators__.model_validators and not any(rules(config).values()):
        UNEXPLAINED.add(config.__name__)


def demands(config, name, info):
    type_ = kind(info.annotation)["type"]
    return {**of_encodings(config, name, info, type_), **(accepted(config, name, info, type_) if asks else {})}


def extra(config):
    return config.model_config.get("extra") or "ignore"


# Classes of fields that are maps, such as `network`, by the name under which fields refer to them.
MODELS = {}
NAMES = {}


def model(given):
    """The name of the class that a map in this field has to fit; None if there is no such class, or a choice of them."""
    classes = [m for m in given if isinstance(m, type) and issubclass(m, pydantic.BaseModel)]
    if len(classes) != 1 or any(shape(m) == "object" for m in given if m not in classes):
        return None
    return register(classes[0])


def register(found):
    if found not in NAMES:
        taken = found.__name__ in MODELS
        NAMES[found] = f"{found.__module__.split('.')[-2]}.{found.__name__}" if taken else found.__name__
        MODELS[NAMES[found]] = {}
        MODELS[NAMES[found]] = {
            "fields": fields(found),
            "extra": extra(found),
            "converted": is_converted(found),
            **rules(found),
        }
    return NAMES[found]


# In place of the value of this field, the server takes that section of its config if it has one. Source: core/resolver.py.
REPLACED_BY = {"vector_stores_config": "vector_stores"}


def names(config, name, info):
    """The keys that YAML may use, best first: where there is an alias, the Python name is silently dropped.

    A field without alias that is hidden from dumps is how a class switches a field of its base off.
    """
    alias = info.validation_alias or info.alias or name
    accepted = [alias] if isinstance(alias, str) else list(alias.choices)
    if config.model_config.get("populate_by_name") and name not in accepted:
        accepted.append(name)
    return accepted


def field(config, name, info):
    given = [m for m in union_members(info.annotation) if m is not type(None)]
    # Their classes are in that section.
    is_separate = (config.__name__, name) in SEPARATE
    found = {
        **kind(dict if is_separate else info.annotation),
        "aliases": names(config, name, info)[1:],
        "converted": name in converted_fields(config) or name in REWRITTEN.get(config, ()),
        "secret": pydantic.SecretStr in given,
        "required": info.is_required() or config in NAMES and is_default_unfit(info),
        "description": " ".join((info.description or "").split()),
        **files(config, name, info, given),
    }
    found["tagged"] = found["tagged"] or info.discriminator is not None
    found["nullable"] = found["nullable"] or name in FILLED.get(config, ())
    if found["type"] in ("integer", "number"):
        found |= bounds(info)
    if name in validated_fields(config):
        found |= demands(config, name, info)
    # The server starts with these stores unless others are written.
    found["isDefaultRead"] = config.__name__ in ("StorageConfig", "ServerStoresConfig")
    if name in REPLACED_BY:
        return {**found, "replacedBy": REPLACED_BY[name]}
    known, value = default_of(info)
    if known:
        found["default"] = value
    return found


def kind(annotation):
    """What a value of this annotation has to be."""
    members = union_members(annotation)
    given = [m for m in members if m is not type(None)]
    shapes = [shape(m) for m in given]
    one = len(set(shapes)) == 1
    return {
        "type": shapes[0] if one else "any",
        "nullable": len(given) < len(members) or typing.Any in given,
        "enum": sorted({value for m in given for value in choices(m)}, key=str) if one else [],
        "model": model(given),
        "variants": variants(given),
        "tagged": is_tagged(annotation),
        "items": items(given),
        "values": values(given),
        "schemes": schemes(given),
        "choices": alternatives(annotation, given, shapes),
    }


def is_default_unfit(info):
    """Whether the default is a text where the code reads a class: of a choice of classes, 0.2 declares the type alone.

    For providers the references say it.
    """
    given = [m for m in union_members(info.annotation) if m is not type(None)]
    return isinstance(info.default, str) and all(shape(m) == "object" for m in given)


def alternatives(annotation, given, shapes):
    """What a value may be where several kinds are accepted; None if the rest of the kind says it."""
    if "any" in shapes:
        return None
    if len(set(shapes)) > 1:
        return [kind(m) for m in given]
    # Classes of which not all have a `type` of their own; those that have stay together.
    if shapes[0] != "object" or len(given) < 2 or variants(given) is not None:
        return None
    return [kind(part) for part in typing.get_args(annotation) if part is not type(None)]


def is_tagged(annotation):
    """Whether a choice of classes reads the field `type` before anything else."""
    if typing.get_origin(annotation) is typing.Annotated:
        inner, *marks = typing.get_args(annotation)
        return any(getattr(mark, "discriminator", None) for mark in marks) or is_tagged(inner)
    parts = typing.get_args(annotation) if typing.get_origin(annotation) in (typing.Union, types.UnionType) else ()
    return any(is_tagged(part) for part in parts)


def files(config, name, info, given):
    """Whether the class looks for the file at this path when the server starts, and whether it also takes "false"."""
    if not any(isinstance(m, type) and issubclass(m, (str, PurePath)) for m in given):
        return {"file": False}
    file = any("not exist" in message for message in complaints(config, name, info, "/nowhere/there.pem"))
    return {"file": file, "quotedBoolean": file and not complaints(config, name, info, "false")}


def complaints(config, name, info, value):
    alias = names(config, name, info)[0]
    try:
        with warnings.catch_warnings(action="ignore"):
            config.model_validate({alias: value})
        return []
    except pydantic.ValidationError as error:
        # A validator of the whole class has no place, or that of a class that it fills from this field.
        return [part["msg"] for part in error.errors() if part["type"] != "missing"]
    except Exception:
        return []


def variants(given):
    """The classes that a map has to fit, by its field `type`; None if there is no choice."""
    classes = [m for m in given if isinstance(m, type) and issubclass(m, pydantic.BaseModel)]
    words = [choices(c.model_fields["type"].annotation) if "type" in c.model_fields else [] for c in classes]
    if len(classes) < 2 or any(len(w) != 1 for w in words):
        return None
    return {str(getattr(w[0], "value", w[0])): register(c) for w, c in zip(words, classes)}


def items(given):
    """What each item of a list has to be; None if the field may also be something else."""
    if len(given) != 1 or shape(given[0]) != "array":
        return None
    members = [m for m in typing.get_args(given[0]) if m is not Ellipsis]
    return kind(members[0]) if len(members) == 1 else None


def values(given):
    """What each value of a map with any keys has to be; None as for items."""
    if len(given) != 1 or typing.get_origin(given[0]) is not dict:
        return None
    # Of the keys, nothing is said: those of YAML are texts.
    return kind(typing.get_args(given[0])[1])


def schemes(given):
    """What a URL in this field may begin with; None if anything."""
    urls = [m for m in given if isinstance(m, type) and issubclass(m, pydantic.AnyUrl)]
    found = getattr(getattr(urls[0], "_constraints", None), "allowed_schemes", None) if len(given) == len(urls) == 1 else None
    return sorted(found) if found else None


# As JSON Schema calls them.
BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def bounds(info):
    return {
        word: value
        for part in info.metadata
        for key, word in BOUNDS.items()
        if (value := getattr(part, key, None)) is not None
    }


def validated_fields(config):
    """Fields whose values a validator of the class checks after their types."""
    decorators = config.__pydantic_decorators__.field_validators.values()
    return {name for found in decorators if found.info.mode == "after" for name in found.info.fields}


def accepted(config, name, info, type_):
    """What a validator demands of a value, found by asking it."""

    def takes(value):
        return not complaints(config, name, info, value)

    if type_ in ("integer", "number"):
        step = 1 if type_ == "integer" else 0.001
        lowest = [n for n in (0, 1) if takes(n) and not takes(n - step)]
        highest = [n for n in (1, 2, 10, 100, 1000, 1024, 4096, 8192) if takes(n) and not takes(n + step)]
        return {**({"minimum": lowest[0]} if lowest else {}), **({"maximum": highest[0]} if highest else {})}
    if type_ == "array":
        return {"notEmpty": True} if any(takes([word]) for word in ("x", "10.0.0.0/8")) and not takes([]) else {}
    if type_ == "object":
        is_full = takes({"x": "y"}) and not takes({"x": ""})
        return {"values": {**kind(str), "notEmpty": True}} if is_full else {}
    if type_ != "string":
        return {}
    if takes("x"):
        return {} if takes("") else {"notEmpty": True}
    if takes("https://example.com"):
        return {"type": "url", **({} if takes("ftp://example.com") else {"schemes": ["http", "https"]})}
    found = [scheme for scheme in ("postgres", "postgresql") if takes(f"{scheme}://user:word@host/db")]
    if found:
        return {"type": "url", "schemes": found}
    parts = []
    for _ in range(4):
        # The name of a placeholder, or of a word in quotes.
        wanted = re.search(r"\{[\w.]+\}|(?<=')\w+(?=')", " ".join(complaints(config, name, info, "".join(parts) or "x")))
        if wanted is None:
            break
        parts.append(wanted[0])
    return {"contains": parts} if parts and takes("".join(parts)) else {}


def of_encodings(config, name, info, type_):
    """The names of tiktoken, if a field takes no other text, or no other one in a map of texts."""
    if type_ not in ("string", "object"):
        return {}

    def takes(text):
        return not complaints(config, name, info, text if type_ == "string" else {"x": text})

    import tiktoken

    words = [] if takes("x") else sorted(word for word in tiktoken.list_encoding_names() if takes(word))
    if not words:
        return {}
    return {"enum": words} if type_ == "string" else {"values": {**kind(str), "enum": words}}


def converted_fields(config):
    """Fields whose values a validator of the class changes before their types are checked."""
    decorators = config.__pydantic_decorators__.field_validators.values()
    return {name for found in decorators if found.info.mode in ("before", "plain", "wrap") for name in found.info.fields}


def is_converted(config):
    """Whether a validator of the whole class changes a map before its fields are checked."""
    return any(found.info.mode != "after" for found in config.__pydantic_decorators__.model_validators.values())


def rules(config):
    """Conditions between the fields of a class with a validator of its own, found by asking it about combinations of fields.

    `oneOf`: at least one of these is written. `apart`: not both.
    """
    if not any(found.info.mode == "after" for found in config.__pydantic_decorators__.model_validators.values()):
        return {}
    infos = {names(config, n, f)[0]: f for n, f in config.model_fields.items()}
    texts = {name: [t for t in samples(info.annotation)] for name, info in infos.items()}
    required = [name for name, info in infos.items() if info.is_required()]
    others = [name for name in infos if name not in required]
    chosen = {}

    def errors(*wanted):
        try:
            with warnings.catch_warnings(action="ignore"):
                config.model_validate({name: chosen[name] for name in (*required, *wanted)})
            return []
        except pydantic.ValidationError as error:
            return error.errors()
        except Exception:
            return [{"loc": ()}]

    def choose(name, *wanted, by):
        for text in texts[name]:
            chosen[name] = text
            if by(errors(*wanted)):
                return True
        return False

    for name in required:
        choose(name, by=lambda found: True)
    for name in (*required, *others):
        choose(name, name, by=lambda found, name=name: all(e["loc"][:1] != (name,) for e in found))
    one_of = [] if not errors() else [name for name in others if not errors(name)]
    if errors() and not one_of:
        return {}
    around = [()] if not one_of else [(name,) for name in one_of]

    def fits(*wanted, without=()):
        return any(not errors(*wanted, *more) for more in around if not set(more) & set(without))

    for name in others:
        if not fits(name):
            any(choose(name, name, *more, by=lambda found: not found) for more in around)
    apart = [
        [a, b]
        for at, a in enumerate(others)
        for b in others[at + 1 :]
        if fits(a, without=(b,)) and fits(b, without=(a,)) and not fits(a, b)
    ]
    return {"oneOf": one_of, "apart": apart}


def samples(annotation):
    """Values that a field may take, for want of any of its own."""
    for member in union_members(annotation):
        if isinstance(member, type) and issubclass(member, pydantic.BaseModel):
            yield {
                names(member, n, f)[0]: next(samples(f.annotation), "x")
                for n, f in member.model_fields.items()
                if f.is_required() or n == "type"
            }
            continue
        found = choices(member)
        if found:
            yield getattr(found[0], "value", found[0])
            continue
        yield from SAMPLES.get(shape(member), ())


SAMPLES = {
    "string": ("x", "https://example.com", "postgresql://user:word@host/db", "user is owner"),
    "url": ("https://example.com",),
    "boolean": (True,),
    "integer": (1, 4096),
    "number": (1.0,),
    "object": ({},),
    "array": ([],),
}


def union_members(annotation):
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return union_members(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [member for part in typing.get_args(annotation) for member in union_members(part)]
    return [annotation]


def shape(annotation):
    origin = typing.get_origin(annotation) or annotation
    if origin is typing.Literal:
        named = {shape(type(value)) for value in typing.get_args(annotation)}
        return named.pop() if len(named) == 1 else "any"
    if not isinstance(origin, type):
        return "any"
    if issubclass(origin, Enum):
        named = {shape(type(member.value)) for member in origin}
        return named.pop() if len(named) == 1 else "any"
    for name, classes in SHAPES.items():
        if issubclass(origin, classes):
            return name
    return "any"


# bool before integer, because Python's bool is an int.
SHAPES = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (float,),
    "string": (str, PurePath, pydantic.SecretStr),
    "url": (pydantic.AnyUrl,),
    "object": (dict, pydantic.BaseModel),
    "array": (list, set, frozenset, tuple),
}


def choices(annotation):
    if typing.get_origin(annotation) is typing.Literal:
        return typing.get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [member.value for member in annotation]
    return []


def default_of(info):
    """Whether there is a default that JSON can hold, and that default."""
    if info.is_required():
        return False, None
    value = info.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return False, None
    if isinstance(value, pydantic.AnyUrl):
        return True, str(value)
    try:
        return True, to_jsonable_python(value, by_alias=True)
    except Exception:
        return False, None


def references(config, kinds, path=(), required=True):
    """References to storage backends, also those inside nested models, by dotted path."""
    for name, info in config.model_fields.items():
        here = (*path, names(config, name, info)[0])
        needed = required and info.is_required()
        for member in union_members(info.annotation):
            if not (isinstance(member, type) and issubclass(member, pydantic.BaseModel)):
                continue
            kind = next((kind for kind, base in kinds.items() if issubclass(member, base)), None)
            if kind is None:
                yield from references(member, kinds, here, needed)
                continue
            in_place = "db_path" in member.model_fields
            found = {"kind": kind, "required": needed or in_place}
            known, value = default_of(info)
            if known and value is not None and not in_place:
                found["default"] = value
            yield ".".join(here), found


main(*sys.argv[1:])
