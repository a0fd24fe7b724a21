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
