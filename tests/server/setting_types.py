"""Prints as JSON which sample values each config class of the installed server takes for each of its fields."""

import importlib
import json
import sys

import pydantic


def main(package: str) -> None:
    server = package.replace("-", "_")
    registry = importlib.import_module(f"{server}.core.distribution").get_provider_registry()
    asked = json.load(sys.stdin)
    print(
        json.dumps(
            {
                f"{api.value} {type_}": {
                    ".".join(path): taken(config_class(spec), path, asked["samples"])
                    for path in [*([key] for key in keys(config_class(spec))), *asked["within"].get(f"{api.value} {type_}", [])]
                }
                for api, specs in registry.items()
                for type_, spec in specs.items()
            }
        )
    )


def config_class(spec):
    module, _, name = spec.config_class.rpartition(".")
    return getattr(importlib.import_module(module), name)


def keys(config):
    """Under the name that YAML uses."""
    for name, info in config.model_fields.items():
        alias = info.validation_alias or info.alias or name
        yield alias if isinstance(alias, str) else alias.choices[0]


def taken(config, path, samples):
    return [not refused(config, path, value) for value in samples]


def refused(config, path, value):
    """Whether the class complains of this field, at the end of a path of keys. Fields that are missing do not count."""
    given = value
    for key in reversed(path):
        given = {key: given}
    try:
        config.model_validate(given)
        return False
    except pydantic.ValidationError as error:
        return any(part["type"] != "missing" for part in error.errors())
    except Exception:
        # If a validator rejects the value, the server fails to start as well.
        return True


main(*sys.argv[1:])
