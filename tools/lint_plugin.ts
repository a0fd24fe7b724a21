/** House rules for `deno lint`: the core has no clock, no randomness, no Deno, no console, no state, and throws nothing. */

const TIME = "time comes to the core as an argument";
const CHANCE = "chance comes to the core as an argument";
const IO = "I/O belongs to the shell";

/** Members of globals whose other members are pure, or whose name the core uses for something else. */
const FORBIDDEN_MEMBERS: ReadonlyMap<string, string> = new Map([
  ["Date.now", TIME],
  ["Math.random", CHANCE],
  ...["argv", "cwd", "env", "exit", "hrtime", "stdout"].map((name) => [`process.${name}`, IO] as const),
]);

/** Globals of which the core uses nothing. */
const FORBIDDEN_GLOBALS: ReadonlyMap<string, string> = new Map([
  ["Deno", IO],
  ["WebSocket", IO],
  ["Worker", IO],
  ["clearTimeout", TIME],
  ["console", "return what is to be said"],
  ["crypto", CHANCE],
  ["fetch", IO],
  ["globalThis", "name what is meant"],
  ["localStorage", IO],
  ["performance", TIME],
  ["queueMicrotask", TIME],
  ["setImmediate", TIME],
  ["setInterval", TIME],
  ["setTimeout", TIME],
]);

/** Of Effect's functions the core may use those that describe; these wait, start fibers, or run what they describe. */
const EFFECT_RUNTIME =
  /^(promise|tryPromise|callback|sleep|delay|timeout|fork|run(Promise|Fork|Callback)|never|repeat|retry|schedule|cached|log)/;

const isCore = (filename: string): boolean => /(^|[\\/])core[\\/]/.test(filename) && !/_test\.ts$/.test(filename);

/** Also what tests share. */
const isTest = (filename: string): boolean => /_test\.ts$|(^|[\\/])tests[\\/]/.test(filename);

/** How tests wait, and what they measure of time. */
const OWN_TIMES = /(^|[\\/])tests[\\/](waiting|measured)\.ts$/;

const isNumber = (node: Deno.lint.Node): boolean => node.type === "Literal" && typeof node.value === "number";

/** A difference of two times, or a name for one. */
const isTime = (node: Deno.lint.Node): boolean =>
  node.type === "Identifier"
    ? /(^|[a-z])(ms|Ms|seconds|Seconds|took|elapsed)$/.test(node.name) && !/^(count|number)/.test(node.name)
    : node.type === "BinaryExpression" && node.operator === "-" && node.left.type === "CallExpression" &&
      node.left.callee.type === "MemberExpression" &&
      nameOf(node.left.callee.property as Deno.lint.Expression) === "now";

const nameOf = (node: Deno.lint.Expression): string => node.type === "Identifier" ? node.name : "";

const memberOf = ({ property, computed }: Deno.lint.MemberExpression): string =>
  property.type === "Identifier" && !computed
    ? property.name
    : property.type === "Literal"
    ? String(property.value)
    : "";

/** `x.name`, or `name:` in an object, a pattern or a type, which is nobody's global. */
const isNameOfMember = (node: Deno.lint.Identifier): boolean => {
  const { parent } = node;
  switch (parent.type) {
    case "MemberExpression":
      return parent.property === node && !parent.computed;
    case "Property":
      return parent.key === node && parent.value !== node && !parent.computed;
    default:
      return parent.type === "TSPropertySignature";
  }
};

const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "pure-core": {
      create(context) {
        if (!isCore(context.filename)) return {};
        return {
          Identifier(node) {
            const why = FORBIDDEN_GLOBALS.get(node.name);
            if (why === undefined || isNameOfMember(node)) return;
            context.report({ node, message: `${node.name} in the core: ${why}` });
          },
          MemberExpression(node) {
            const object = nameOf(node.object);
            const property = memberOf(node);
            const why = FORBIDDEN_MEMBERS.get(`${object}.${property}`);
            if (why !== undefined) context.report({ node, message: `${object}.${property} in the core: ${why}` });
            if (object === "Effect" && EFFECT_RUNTIME.test(property)) {
              context.report({ node, message: `Effect.${property} in the core: its pipelines never suspend` });
            }
          },
          CallExpression(node) {
            if (nameOf(node.callee) === "Date") context.report({ node, message: `Date() in the core: ${TIME}` });
          },
          NewExpression(node) {
            if (nameOf(node.callee) === "Date" && node.arguments.length === 0) {
              context.report({ node, message: `new Date() in the core: ${TIME}` });
            }
          },
          VariableDeclaration(node) {
            const { parent } = node;
            const place = parent.type === "ExportNamedDeclaration" ? parent.parent : parent;
            if (node.kind !== "const" && place.type === "Program") {
              context.report({
                node,
                message: `${node.kind} of a file in the core: it keeps nothing between two calls`,
              });
            }
          },
          ThrowStatement(node) {
            context.report({ node, message: "throw in the core: return a Result with a typed failure" });
          },
        };
      },
    },
    "waiting-in-one-place": {
      create(context) {
        if (!isTest(context.filename) || OWN_TIMES.test(context.filename)) return {};
        return {
          CallExpression(node) {
            const [first, length] = node.arguments;
            const isSleep = /^(setTimeout|pause)$/.test(nameOf(node.callee));
            const lengths = nameOf(node.callee) === "pause" ? [first] : [length];
            if (isSleep && lengths.some((value) => value !== undefined && isNumber(value))) {
              context.report({ node, message: "A test waits for a state: use eventually() of tests/waiting.ts" });
            }
          },
          Literal(node) {
            if (typeof node.value === "string" && /^--timeout=\d+[smh]?$/.test(node.value)) {
              context.report({
                node,
                message: "A slow machine makes no test red: use KUBECTL_LIMIT of tests/waiting.ts",
              });
            }
          },
          BinaryExpression(node) {
            if (!/^[<>]=?$/.test(node.operator)) return;
            const [left, right] = [node.left, node.right];
            if (left.type === "PrivateIdentifier") return;
            const isCompared = isTime(left) && isNumber(right) || isNumber(left) && isTime(right);
            if (isCompared) {
              context.report({ node, message: "No test measures the machine: use a comparison of tests/measured.ts" });
            }
          },
        };
      },
    },
    "deep-effect-imports": {
      create(context) {
        return {
          ImportDeclaration(node) {
            if (node.source.value !== "effect") return;
            context.report({
              node,
              message: 'import * as Name from "effect/Name": the package as a whole makes the program a seventh larger',
            });
          },
        };
      },
    },
    "file-of-url": {
      create(context) {
        return {
          MemberExpression(node) {
            const { object } = node;
            if (memberOf(node) !== "pathname" || object.type !== "NewExpression" || nameOf(object.callee) !== "URL") {
              return;
            }
            const base = object.arguments[1];
            // `import.meta.url`, or a constant for a folder.
            const isFile = base?.type === "MemberExpression" && base.object.type === "MetaProperty" ||
              base?.type === "Identifier" && /^[A-Z_]+$/.test(base.name);
            if (isFile) {
              context.report({
                node,
                message: "Blanks are %20 in the path of a URL: fileURLToPath() of node:url has the file",
              });
            }
          },
        };
      },
    },
    "test-name": {
      create(context) {
        if (!/_test\.ts$/.test(context.filename)) return {};
        return {
          CallExpression(node) {
            const isTest = node.callee.type === "MemberExpression" && nameOf(node.callee.object) === "Deno" &&
              node.callee.property.type === "Identifier" && node.callee.property.name === "test";
            const title = node.arguments[0];
            if (!isTest || title?.type !== "Literal" || typeof title.value !== "string") return;
            if (title.value.trim().split(/\s+/).length < 3) {
              context.report({
                node: title,
                message: "A test name is a sentence: the symbol or requirement, then what it does",
              });
            }
          },
        };
      },
    },
  },
};
export default plugin;
