import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { canonical, isInternal } from "./internal_address.ts";

Deno.test("isInternal() knows loopback, link-local and unspecified addresses in every spelling", () => {
  const internal = [
    ...["127.0.0.1", "127.255.0.3", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255"],
    ...["::1", "::", "0:0:0:0:0:0:0:1", "fe80::1", "fe80::1%eth0", "febf::1", "ff02::1", "::ffff:127.0.0.1"],
    ...["::ffff:a9fe:a9fe", "::7f00:1", "64:ff9b::169.254.169.254", "2002:7f00:1::"],
    // Metadata servers of clouds, and translated addresses.
    ...["fd00:ec2::254", "fd20:ce::254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "::ffff:168.63.129.16"],
    ...["::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1"],
    ...["", "registry.example.com", "127.1", "0x7f.0.0.1"],
  ];
  deepStrictEqual(internal.filter((address) => !isInternal(address)), []);
  const others = [
    "10.0.0.1",
    "192.168.1.1",
    "140.82.121.34",
    "169.253.1.1",
    "2606:50c0:8000::154",
    "fd00::1",
    "fec0::1",
  ];
  deepStrictEqual(others.filter(isInternal), []);
});

Deno.test("canonical() gives one spelling of an address", () => {
  strictEqual(canonical("::ffff:10.0.0.1"), canonical("10.0.0.1"));
  strictEqual(canonical("FD00:0::1"), canonical("fd00::1"));
});
