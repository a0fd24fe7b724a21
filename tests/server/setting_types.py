"""Prints as JSON which sample values each config class of the installed server takes for each of its fields."""

import importlib
import json
import sys

import pydantic


def main(package: str) -> None:
    server = package.replace("-", "_")
    registry = importlib.import_module(f"{server}.core.distribution").get_provider_registry()
    samples = json.load(sys.stdin)
    print(
        json.dumps(
            {
                f"{api.value} {type_}": {key: taken(config_class(spec), key, samples) for key in keys(config_class(spec))}
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


def taken(config, key, samples):
    return [not refused(config, key, value) for value in samples]


def refused(config, key, value):
    """Whether the class complains of this field. Fields that are missing do not count."""
    try:
        config.model_validate({key: value})
        return False
    except pydantic.ValidationError as error:
        # A validator of the whole class runs before those of its fields.
        return any(part["loc"][:1] in ((key,), ()) for part in error.errors())
    except Exception:
        # If a validator rejects the value, the server fails to start as well.
        return True


main(*sys.argv[1:])
