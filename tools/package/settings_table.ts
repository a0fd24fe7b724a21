/** The settings of the operator as a table of docs/settings.md. */
import { SETTING_ROWS } from "../../core/operator/settings.ts";
import { withTable } from "./page_table.ts";

/** The page with the table between its marks; undefined where a mark is missing. */
export const withSettings = (page: string): string | undefined =>
  withTable(
    page,
    "settings",
    ["key", "value", "meaning"],
    SETTING_ROWS.map(({ key, value, meaning }) => [`\`${key}\``, value, meaning]),
  );
