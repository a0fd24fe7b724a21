import { strictEqual } from "node:assert/strict";
import { sectionOf } from "./changelog.ts";

const CHANGELOG =
  "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.10.0 (2027-01-01)\n\n### Added\n\n- Ten.\n\n## [0.1.0]\n\n- One.\n\n## 0.0.9\n";

Deno.test("sectionOf() finds the section of exactly this version", () => {
  strictEqual(sectionOf(CHANGELOG, "0.10.0"), "### Added\n\n- Ten.\n");
  strictEqual(sectionOf(CHANGELOG, "0.1.0"), "- One.\n");
});

Deno.test("sectionOf() finds nothing for a version without a section or without text", () => {
  strictEqual(sectionOf(CHANGELOG, "0.0.9"), undefined);
  strictEqual(sectionOf(CHANGELOG, "0.1"), undefined);
  strictEqual(sectionOf(CHANGELOG, "1.0.0"), undefined);
});
