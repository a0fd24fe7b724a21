/** The alerts as a table of docs/observability.md. */
import { ALERTS } from "./alerts.ts";
import { withTable } from "./page_table.ts";

/** The page with the table between its marks; undefined where a mark is missing. */
export const withAlerts = (page: string): string | undefined =>
  withTable(
    page,
    "alerts",
    ["alert", "severity", "after", "what to do"],
    ALERTS.map(({ name, severity, minutes, advice }) => [`\`${name}\``, severity, `${minutes} min`, advice]),
  );
