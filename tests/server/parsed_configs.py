"""Reads configs as a JSON list, and prints as JSON for each what the parser of the installed server says against it, or null."""

import importlib
import json
import logging
import sys
import warnings


def main(package: str) -> None:
    server = package.replace("-", "_")
    parse = importlib.import_module(f"{server}.core.configure").parse_and_maybe_upgrade_config
    logging.disable()
    warnings.simplefilter("ignore")
    said, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps([against(parse, config) for config in json.load(sys.stdin)]), file=said)


def against(parse, config):
    try:
        parse(config)
        return None
    except BaseException as error:
        return " ".join(f"{type(error).__name__}: {error}".split())[:300]


main(*sys.argv[1:])
