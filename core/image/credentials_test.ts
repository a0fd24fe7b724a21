import { deepStrictEqual } from "node:assert/strict";
import { type Credential, credentialsOf, entriesOf, keyringOf } from "./credentials.ts";
import { imageName } from "../data/image_reference.ts";

const auths = {
  "https://index.docker.io/v1/": { username: "hub", password: "secret" },
  "quay.io/team": { username: "quay", password: "secret" },
};
const keyring = keyringOf([entriesOf({ auths }, "dockerconfigjson") ?? new Map()]);
const users = (all: ReadonlyArray<Credential>) => all.map(({ username }) => username);

Deno.test("credentialsOf() gives those of Docker Hub for images of Docker Hub alone", () => {
  for (const image of ["starter", "team/starter:1", "docker.io/team/starter", "index.docker.io/team/starter"]) {
    deepStrictEqual(users(credentialsOf(imageName(image), keyring)), ["hub"], image);
  }
  // A host without a dot, which a kubelet would take for a part of Docker Hub.
  for (const image of ["0XC0000202/x/y:1", "EVIL/x", "localhost/x", "evil.example/x", "[::1]:5000/x"]) {
    deepStrictEqual(users(credentialsOf(imageName(image), keyring)), [], image);
  }
});

Deno.test("credentialsOf() gives those whose location is the start of the image", () => {
  deepStrictEqual(users(credentialsOf(imageName("quay.io/team/a:1"), keyring)), ["quay"]);
  deepStrictEqual(users(credentialsOf(imageName("quay.io/other/a:1"), keyring)), []);
});
