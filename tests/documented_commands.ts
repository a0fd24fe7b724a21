/** The shell commands of README and docs: which test runs each of them as written, or why none does. */

const ROOT = new URL("../", import.meta.url);

/** Fenced commands below one heading. */
interface Row {
  readonly page: string;
  readonly heading: string;
  /** Only those commands; defaults to all of them. */
  readonly commands?: ReadonlyArray<string>;
  /** The test file that runs them, by `commandsRunBy`. */
  readonly by?: string;
  /** Why no test runs them. */
  readonly why?: string;
}

/** How README starts Deno; inside the tests the running Deno stands for it, and `.ci/run` uses it as it is. */
export const LAUNCHER = "npx -y deno@2.9.6 ";

const INSTALL = "docs/install.md";
const INSTALLATION = "tests/cluster/installation_test.ts";
const HELM = "tests/cluster/helm_test.ts";

export const DOCUMENTED: ReadonlyArray<Row> = [
  {
    page: "README.md",
    heading: "Try it",
    commands: [`${LAUNCHER}task up`],
    by: "tests/cluster/up_test.ts",
  },
  {
    page: "README.md",
    heading: "Try it",
    commands: [`${LAUNCHER}task test`],
    why: "runs every test, this one among them; .ci/run runs it as written",
  },
  { page: "README.md", heading: "The command line", by: "tests/house/documents_test.ts" },
  {
    page: "README.md",
    heading: "Develop",
    commands: [`${LAUNCHER}task ok`],
    why: "runs the unit tests, this one among them; tools/test.ts runs each of its parts",
  },
  {
    page: "README.md",
    heading: "Develop",
    commands: [`${LAUNCHER}task bench`],
    why: "takes minutes and judges a machine that does nothing else",
  },
  { page: INSTALL, heading: "The operator", by: INSTALLATION },
  { page: INSTALL, heading: "Helm", by: HELM },
  { page: INSTALL, heading: "From install.yaml to Helm", by: HELM },
  { page: INSTALL, heading: "From Helm to install.yaml", by: HELM },
  {
    page: INSTALL,
    heading: "The program on your machine",
    why: "downloads Deno's runtime; tests/house/compiled_program_test.ts compiles the same with any runtime",
  },
  {
    page: INSTALL,
    heading: "Build the image",
    why: "pulls both bases; tests/node builds the Dockerfile with buildah on bases of its own",
  },
  { page: INSTALL, heading: "Network", by: INSTALLATION },
  { page: INSTALL, heading: "Settings", by: INSTALLATION },
  { page: INSTALL, heading: "From the Go operator", by: INSTALLATION },
  { page: INSTALL, heading: "Back to the Go operator", by: "tests/cluster/takeover_back_test.ts" },
  { page: INSTALL, heading: "Remove", by: INSTALLATION },
  { page: "docs/backup.md", heading: "Back up one namespace", by: "tests/cluster/backup_test.ts" },
  { page: "docs/backup.md", heading: "Restore it", by: "tests/cluster/backup_test.ts" },
  { page: "docs/observability.md", heading: "Log", by: "tests/around/prometheus_test.ts" },
  {
    page: "docs/observability.md",
    heading: "Argo CD, Flux and kubectl",
    by: "tests/cluster/health_in_tools_test.ts",
  },
];

export interface Command {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** What one test file has to run, in the order of the pages. */
export const commandsRunBy = async (file: string): Promise<ReadonlyArray<Command>> =>
  (await documentedCommands()).filter((command) => rowsOf(command).some(({ by }) => by === file));

export const rowsOf = ({ page, heading, text }: Command): ReadonlyArray<Row> =>
  DOCUMENTED.filter((row) =>
    row.page === page && row.heading === heading && (row.commands === undefined || row.commands.includes(text))
  );

/** Every command of a fenced `sh` block of README and docs, without its remark. */
export const documentedCommands = async (): Promise<ReadonlyArray<Command>> => {
  const pages = ["README.md"];
  for await (const { name } of Deno.readDir(new URL("docs", ROOT))) {
    if (name.endsWith(".md")) pages.push(`docs/${name}`);
  }
  const texts = await Promise.all(pages.sort().map((page) => Deno.readTextFile(new URL(page, ROOT))));
  return texts.flatMap((text, index) => commandsIn(pages[index] ?? "", text));
};

const commandsIn = (page: string, text: string): ReadonlyArray<Command> => {
  let [heading, isFenced, isShell] = ["", false, false];
  const found: Array<Command> = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      isFenced = !isFenced;
      isShell = isFenced && /^```(sh|bash|shell|console)\b/.test(line);
    } else if (!isFenced && line.startsWith("#")) heading = line.replace(/^#+\s*/, "");
    else if (isShell && line.trim() !== "") {
      found.push({ page, heading, text: line.replace(/\s+#\s.*$/, "").trim() });
    }
  }
  return found;
};
