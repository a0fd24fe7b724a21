/**
 * `deno task site`: docs/ as a site in dist/site, by MkDocs with its theme Material. `--serve` shows it until Ctrl-C.
 *
 * The pages are those that GitHub shows. Links to files outside docs/ become links to the repository. `--strict` makes
 * every broken link an error.
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { PUBLISHER } from "./package/publisher.ts";
import { cacheDir, once } from "./install/cache.ts";
import { must } from "./install/run_program.ts";
import { SECTIONS } from "./site/pages.ts";
import { taskOptions } from "./task_options.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Builds the site into `into`. */
export const buildSite = async (into: string): Promise<void> => {
  const work = await Deno.makeTempDir({ prefix: "llama-stack-operator-site-" });
  try {
    await must(await installMkdocs(), [
      "build",
      "--strict",
      "--config-file",
      await prepare(work),
      "--site-dir",
      into,
    ]);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
};

/** Path of the configuration, next to the pages. */
const prepare = async (work: string): Promise<string> => {
  await copyPages(join(ROOT, "docs"), join(work, "docs"), "docs/");
  await Deno.writeTextFile(join(work, "docs", STYLE_FILE), STYLE);
  const file = join(work, "mkdocs.yml");
  // JSON is YAML.
  await Deno.writeTextFile(file, JSON.stringify(CONFIGURATION));
  return file;
};

const copyPages = async (from: string, to: string, below: string): Promise<void> => {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyPages(join(from, name), join(to, name), `${below}${name}/`);
    else if (name.endsWith(".md")) {
      await Deno.writeTextFile(join(to, name), withoutOutsideLinks(await Deno.readTextFile(join(from, name)), below));
    } else if (!name.endsWith(".ts")) {
      // Scripts of the decisions are run in the repository; a copy would be checked with it, and fails.
      await Deno.copyFile(join(from, name), join(to, name));
    }
  }
};

/** `below`: the folder of the page, as `docs/`. */
export const withoutOutsideLinks = (text: string, below: string): string =>
  text.replaceAll(/\]\(((?:\.\.\/)+[^)\s]*)\)/g, (whole, link: string) => {
    const target = new URL(link, `file:///${below}`).pathname.slice(1);
    const anchor = /#.*$/.exec(link)?.[0] ?? "";
    return target.startsWith("docs/") ? whole : `](${PUBLISHER.repository}/blob/main/${target}${anchor})`;
  });

/**
 * Where the search splits words: also within `remote::vllm`, `spec.networking.port` and `<provider>/<name>`, of which people look for
 * a part. A regular expression for the browser.
 */
export const SEARCH_SEPARATOR = "[\\s\\-_,:!=\\[\\](){}<>\"'`/]+|\\.(?!\\d)|&[lg]t;";

/** On a narrow screen, a wide table scrolls; its words are not broken. */
const STYLE = `
.md-typeset table:not([class]) th,
.md-typeset table:not([class]) td {
  min-width: 8rem;
  overflow-wrap: normal;
  word-break: normal;
}
.md-typeset table:not([class]) td code {
  overflow-wrap: normal;
  word-break: normal;
}
.md-typeset table:not([class]) td:first-child code {
  white-space: nowrap;
}
`;

const STYLE_FILE = "site.css";

const CONFIGURATION = {
  site_name: "Llama Stack operator",
  site_url: PUBLISHER.homepage,
  repo_url: PUBLISHER.repository,
  theme: {
    name: "material",
    // No requests to other hosts.
    font: false,
    features: ["navigation.sections", "navigation.top", "content.code.copy", "search.suggest", "toc.follow"],
    palette: [
      {
        media: "(prefers-color-scheme: light)",
        scheme: "default",
        primary: "indigo",
        toggle: { icon: "material/weather-night", name: "Dark" },
      },
      {
        media: "(prefers-color-scheme: dark)",
        scheme: "slate",
        primary: "indigo",
        toggle: { icon: "material/weather-sunny", name: "Light" },
      },
    ],
  },
  plugins: [{ search: { separator: SEARCH_SEPARATOR } }],
  extra_css: [STYLE_FILE],
  markdown_extensions: [
    "tables",
    "md_in_html",
    { toc: { permalink: true } },
    {
      "pymdownx.superfences": {
        custom_fences: [{ name: "mermaid", class: "mermaid", format: "pymdownx.superfences.fence_code_format" }],
      },
    },
    "pymdownx.highlight",
  ],
  validation: { nav: { omitted_files: "ignore" }, links: { anchors: "warn", not_found: "warn" } },
  nav: SECTIONS.map(([title, pages]) => ({ [title]: pages.map(([name, file]) => ({ [name]: file })) })),
};

/** Path of the program. */
const installMkdocs = async (): Promise<string> => {
  const requirements = join(ROOT, "tools/site/requirements.txt");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(requirements))).toHex();
  const folder = await once(
    cacheDir("site", digest.slice(0, 8)),
    "MkDocs (first time, about 15 s)",
    async (into, last) => {
      await must("python3", ["-m", "venv", into]);
      await must(join(into, "bin/pip"), ["install", "--quiet", "--no-deps", "--requirement", requirements]);
      // Its own first line names the Python of the folder in which it was made.
      const program = join(into, "bin/mkdocs");
      await Deno.writeTextFile(program, (await Deno.readTextFile(program)).replaceAll(into, last));
    },
  );
  return join(folder, "bin/mkdocs");
};

const main = async (): Promise<void> => {
  const { serve, out } = taskOptions(
    Deno.args,
    { serve: { type: "boolean", default: false }, out: { type: "string", default: join(ROOT, "dist/site") } },
    "Usage: deno task site [--out FOLDER] [--serve]\n\nBuilds the documentation as a site in dist/site; --serve shows it " +
      "on http://127.0.0.1:8000",
  );
  await buildSite(out);
  console.log(out);
  if (!serve) return;
  console.log("http://127.0.0.1:8000, until Ctrl-C");
  await must("python3", ["-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", out]);
};

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exitCode = 1;
  }
}
