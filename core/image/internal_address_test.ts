import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { canonicalAddress, isInternal } from "./internal_address.ts";

Deno.test("isInternal() knows loopback, link-local, unspecified and reserved addresses in every spelling", () => {
  const internal = [
    ...["127.0.0.1", "127.255.0.3", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255"],
    ...["::1", "::", "0:0:0:0:0:0:0:1", "fe80::1", "fe80::1%eth0", "febf::1", "ff02::1", "::ffff:127.0.0.1"],
    ...["::ffff:a9fe:a9fe", "::7f00:1", "64:ff9b::169.254.169.254", "2002:7f00:1::"],
    // Metadata servers of clouds, and translated addresses.
    ...["fd00:ec2::254", "fd20:ce::254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "::ffff:168.63.129.16"],
    ...["::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1"],
    ...["64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:12:a9:fea9:fe00::"],
    // Of the registries of IANA: what is not globally reachable.
    ...["192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1"],
    ...[
      "240.0.0.1",
      "100::1",
      "100:0:0:1::1",
      "2001::1",
      "2001:0:4136:e378:8000:63bf:3fff:fdd2",
      "2001:2::1",
      "2001:10::1",
    ],
    ...["2001:20::1", "2001:db8::1", "3fff::1", "5f00::1", "fec0::1", "feff::1"],
    // ISATAP in any network, and DNS servers of a cloud.
    ...["2606:50c0::5efe:169.254.169.254", "fd00::200:5efe:7f00:1", "100.100.2.136", "100.100.2.138"],
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
    "100.64.0.1",
    "100.103.0.1",
    "198.20.0.1",
    "192.0.1.1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "100:0:0:2::1",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1:808:8:800::",
    "2606:50c0::5efe:10.0.0.1",
  ];
  deepStrictEqual(others.filter(isInternal), []);
});

Deno.test("canonicalAddress() gives one spelling of an address", () => {
  strictEqual(canonicalAddress("::ffff:10.0.0.1"), canonicalAddress("10.0.0.1"));
  strictEqual(canonicalAddress("FD00:0::1"), canonicalAddress("fd00::1"));
});
