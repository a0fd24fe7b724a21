import { installServer } from "../../tools/install/python_server.ts";
import { ended } from "../../tools/install/run_program.ts";

/**
 * What the servers' own YAML reader makes of each document, in one Python process. Both of its implementations are
 * asked, and a difference between them is an error.
 *
 * What JSON cannot say comes as an object with one key that names the YAML type: `{"!!timestamp": "2026-01-02"}`,
 * `{"!!float": "nan"}`, `{"!!int": "9007199254740993"}`, `{"!!map": [[key, value], …]}` for keys that are no strings.
 * `1.0` and `1` are both the number 1.
 */
export const readWithPyYaml = async (documents: readonly string[]): Promise<unknown[]> => {
  const { python } = await installServer("llama-stack 0.7.3");
  const stdin = JSON.stringify(documents);
  const { code, stdout, stderr } = await ended(python, ["-c", READ_DOCUMENTS], { env: {}, stdin });
  if (code !== 0) throw new Error(`PyYAML: ${stderr}`);
  const answers: readonly { value?: unknown; error?: string }[] = JSON.parse(stdout);
  return answers.map(({ value, error }, index) => {
    if (error === undefined) return value;
    throw new Error(`PyYAML at document ${index}: ${error.slice(-800)}`);
  });
};

const READ_DOCUMENTS = `
import base64, datetime, json, math, sys, yaml

def plain(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= 2**53 - 1 else {"!!int": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"!!float": str(value)}
    if isinstance(value, (datetime.date, datetime.datetime)):
        return {"!!timestamp": value.isoformat()}
    if isinstance(value, bytes):
        return {"!!binary": base64.b64encode(value).decode()}
    if isinstance(value, set):
        return {"!!set": [plain(item) for item in sorted(value, key=repr)]}
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: plain(item) for key, item in value.items()}
        return {"!!map": [[plain(key), plain(item)] for key, item in value.items()]}
    return [plain(item) for item in value]

def reading(document, loader):
    try:
        return {"value": plain(yaml.load(document, loader))}
    except Exception as error:
        return {"error": "%s: %s" % (loader.__name__, error)}

def read(document):
    pure, compiled = reading(document, yaml.SafeLoader), reading(document, yaml.CSafeLoader)
    # As JSON, because True == 1 in Python.
    if ("error" in pure) != ("error" in compiled) or json.dumps(pure.get("value")) != json.dumps(compiled.get("value")):
        return {"error": "the readers differ: %s %s" % (json.dumps(pure), json.dumps(compiled))}
    return pure

json.dump([read(document) for document in json.loads(sys.stdin.buffer.read())], sys.stdout)
`;
