/**
 * `deno task kube-score`: deploy/install.yaml by the judgement of kube-score. Each finding has a row in docs/install.md
 * that says why it stays, and each row a finding.
 */
import { fileURLToPath } from "node:url";
import { type Json, listAt, member, objectAt, stringAt } from "../core/data/json.ts";
import { installControlPlane } from "./install/control_plane.ts";

/** The heading of the table, whose first column contains the words of kube-score. */
const HEADING = "## Findings of kube-score";

/** Below this grade kube-score warns; 10 is the best one. */
const GOOD = 7;

/** What it says of all objects, in its JSON format. */
export const findingsOf = (report: ReadonlyArray<Json>): ReadonlyArray<string> =>
  report.flatMap((object) => listAt(object, "checks"))
    .filter((check) => member(objectAt(check), "skipped") !== true && Number(member(objectAt(check), "grade")) < GOOD)
    .flatMap((check) => listAt(check, "comments").map((comment) => stringAt(comment, "summary") ?? ""));

/** The first cells of the table. */
export const explainedBy = (page: string): ReadonlyArray<string> => {
  const section = page.split(`${HEADING}\n`)[1]?.split("\n## ")[0] ?? "";
  const [, , ...rows] = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.map((row) => row.split("|")[1]?.trim() ?? "");
};

const main = async (): Promise<number> => {
  const { "kube-score": program } = await installControlPlane(["kube-score"]);
  const read = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
  const { stdout, stderr } = await new Deno.Command(program, {
    args: ["score", "--kubernetes-version=v1.32", "--output-format=json", read("deploy/install.yaml")],
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (!text.startsWith("[")) throw new Error(`kube-score: ${text}${new TextDecoder().decode(stderr)}`);
  const findings = findingsOf(JSON.parse(text));
  const explained = explainedBy(await Deno.readTextFile(read("docs/install.md")));
  const wrong = [
    ...findings.filter((finding) => !explained.includes(finding)).map((finding) => `not explained: ${finding}`),
    ...explained.filter((row) => !findings.includes(row)).map((row) => `explained, but not found: ${row}`),
  ];
  for (const line of wrong) console.error(line);
  console.log(`${findings.length} findings of kube-score, ${wrong.length} differences from docs/install.md`);
  return wrong.length === 0 ? 0 : 1;
};

if (import.meta.main) Deno.exit(await main());
