/** House rules for `deno lint`: the core has no clock, no randomness, no Deno, no console and throws nothing. */

const FORBIDDEN_CALLS: Readonly<Record<string, string>> = {
  "Date.now": "time comes to the core as an argument",
  "Math.random": "pass random values to the core as arguments",
  "crypto.randomUUID": "chance comes to the core as an argument",
  "performance.now": "time comes to the core as an argument",
};

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

const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "pure-core": {
      create(context) {
        if (!isCore(context.filename)) return {};
        return {
          MemberExpression(node) {
            const object = nameOf(node.object);
            const property = node.property.type === "Identifier" ? node.property.name : "";
            const why = FORBIDDEN_CALLS[`${object}.${property}`];
            if (why !== undefined) context.report({ node, message: `${object}.${property} in the core: ${why}` });
            if (object === "Effect" && EFFECT_RUNTIME.test(property)) {
              context.report({ node, message: `Effect.${property} in the core: its pipelines never suspend` });
            }
            if (object === "Deno") context.report({ node, message: "Deno in the core: I/O belongs to the shell" });
            if (object === "console") {
              context.report({ node, message: "console in the core: return what is to be said" });
            }
          },
          NewExpression(node) {
            if (nameOf(node.callee) === "Date" && node.arguments.length === 0) {
              context.report({ node, message: "new Date() in the core: time comes as an argument" });
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
