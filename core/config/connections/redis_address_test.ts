import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { parseRedis, redisUserInfo } from "./redis_address.ts";

for (
  const [endpoint, want] of [
    ["redis", { host: "redis", port: 6379, user: undefined, password: undefined }],
    ["redis:6380", { host: "redis", port: 6380, user: undefined, password: undefined }],
    ["redis://redis/0", { host: "redis", port: 6379, user: undefined, password: undefined }],
    ["redis://:p%40ss@10.0.0.1:1", { host: "10.0.0.1", port: 1, user: undefined, password: "p@ss" }],
    ["redis://me:a:b@redis", { host: "redis", port: 6379, user: "me", password: "a:b" }],
    ["redis://me@[::1]:6379", { host: "[::1]", port: 6379, user: "me", password: undefined }],
  ] as const
) {
  Deno.test(`parseRedis() reads ${endpoint}`, () => deepStrictEqual(parseRedis(endpoint, []), { address: want }));
}

for (
  const [user, password, want] of [
    [undefined, undefined, ""],
    [undefined, "p@s:s/w?#%&+ '\"$\\", ":p%40s%3As%2Fw%3F%23%25%26%2B%20%27%22%24%5C@"],
    ["~me", "x", "%7Eme:x@"],
    ["me", undefined, "me@"],
  ] as const
) {
  Deno.test(`redisUserInfo() encodes user ${user} as ${want || "nothing"}`, () =>
    strictEqual(redisUserInfo(user, password), want));
}
