"""Reads configs as a JSON list, and prints as JSON for each what the installed server says against it before it serves, or null."""

import importlib
import importlib.util
import json
import logging
import sys
import warnings
from pathlib import Path


def main(package: str) -> None:
    server = package.replace("-", "_")
    parse = parser_of(server)
    logging.disable()
    warnings.simplefilter("ignore")
    said, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps([against(parse, config) for config in json.load(sys.stdin)]), file=said)


def parser_of(server):
    """Of the program that serves: up to 0.8, that of developers parses in another way."""
    program = importlib.util.find_spec(f"{server}.core.server.server").origin
    if "parse_and_maybe_upgrade_config" in Path(program).read_text():
        return importlib.import_module(f"{server}.core.configure").parse_and_maybe_upgrade_config
    stack = importlib.import_module(f"{server}.core.stack")
    datatypes = importlib.import_module(f"{server}.core.datatypes")
    config = getattr(datatypes, "StackConfig", None) or datatypes.StackRunConfig
    cast = getattr(stack, "cast_distro_name_to_string", None) or stack.cast_image_name_to_string
    return lambda tree: config(**cast(stack.replace_env_vars(tree)))


def against(parse, config):
    try:
        parse(config)
        return None
    except BaseException as error:
        return " ".join(f"{type(error).__name__}: {error}".split())[:300]


main(*sys.argv[1:])
