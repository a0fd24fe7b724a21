import { rejects, strictEqual } from "node:assert/strict";
import { ODD_PASSWORDS } from "./odd_passwords.ts";
import { startPostgres } from "../../tools/server/postgres.ts";

for (const tls of [false, true]) {
  Deno.test(`startPostgres() with tls ${tls} accepts unusual passwords and rejects wrong ones`, async () => {
    const postgres = await startPostgres({ password: ODD_PASSWORDS[0] ?? "", tls });
    try {
      for (const [index, password] of ODD_PASSWORDS.entries()) {
        const [user, database] = [`user ${index}`, `database"${index}`];
        await postgres.createDatabase(database, user, password);
        strictEqual(await postgres.query("select current_user", { user, password, database }), user);
        await rejects(
          postgres.query("select 1", { user, password: `${password}x`, database }),
          /password authentication failed/,
        );
      }
      const encrypted = await postgres.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()", {
        user: postgres.superuser,
        password: ODD_PASSWORDS[0] ?? "",
        database: "postgres",
      });
      strictEqual(encrypted, tls ? "t" : "f");
    } finally {
      await postgres.stop();
    }
  });
}
