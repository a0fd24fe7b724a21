import { deepStrictEqual, match } from "node:assert/strict";
import { ODD_PASSWORDS } from "./odd_passwords.ts";
import { startRedis } from "../../tools/server/redis.ts";

for (const password of ODD_PASSWORDS) {
  for (const user of ["alice", undefined]) {
    Deno.test(`startRedis() lets ${user ?? "everybody"} in with ${JSON.stringify(password)} only`, async () => {
      const redis = await startRedis({ password, ...(user === undefined ? {} : { user }) });
      try {
        const login = (word: string) => user === undefined ? ["AUTH", word] : ["AUTH", user, word];
        deepStrictEqual(await redis.send(login(password), ["SET", "key", "value"]), ["+OK", "+OK"]);
        const [wrong, after] = await redis.send(login(`${password}x`), ["GET", "key"]);
        match(wrong ?? "", /^-WRONGPASS/);
        match(after ?? "", /^-NOAUTH/);
      } finally {
        await redis.stop();
      }
    });
  }
}

Deno.test("startRedis() without a password is open", async () => {
  const redis = await startRedis();
  try {
    deepStrictEqual(await redis.send(["PING"]), ["+PONG"]);
  } finally {
    await redis.stop();
  }
});
