import { none } from "../tests/none.ts";
import { conditionsPage } from "./conditions_page.ts";

Deno.test("conditionsPage() has a placeholder for every property that the advice reads", () => {
  none(
    conditionsPage().split("\n").filter((line) => line.includes("undefined")),
    "Add placeholders of the properties that these rows read to SAMPLE in tools/conditions_page.ts",
  );
});
