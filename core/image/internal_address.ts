/**
 * Addresses that a registry named by a tenant must not lead the operator to: loopback, link-local (where clouds serve
 * credentials of the node), unspecified and multicast. Addresses of private networks are usual for registries.
 */

/** `address`: an IPv4 or IPv6 address; anything else counts as internal. */
export const isInternal = (address: string): boolean => {
  const bytes = address.includes(":") ? ipv6(address) : ipv4(address);
  return bytes === undefined || (bytes.length === 4 ? isInternalIpv4(bytes) : isInternalIpv6(bytes));
};

/** One spelling of an address, for comparisons. */
export const canonical = (address: string): string => {
  const bytes = address.includes(":") ? ipv6(address) : ipv4(address);
  if (bytes === undefined) return address;
  return (embedded(bytes) ?? bytes).join(".");
};

const isInternalIpv4 = (bytes: ReadonlyArray<number>): boolean => {
  const [first = 0, second = 0] = bytes;
  return first === 0 || first === 127 || first === 169 && second === 254 || first >= 224 ||
    METADATA_SERVERS.includes(bytes.join("."));
};

/** Outside of the ranges for links: metadata servers of Azure, Alibaba Cloud and Oracle Cloud, of AWS and Google Cloud. */
const METADATA_SERVERS: ReadonlyArray<string> = ["168.63.129.16", "100.100.100.200", "192.0.0.192"];
const METADATA_SERVERS_IPV6: ReadonlyArray<string> = ["fd00:ec2::254", "fd20:ce::254"];

const isInternalIpv6 = (bytes: ReadonlyArray<number>): boolean => {
  const inner = embedded(bytes);
  if (inner !== undefined) return isInternalIpv4(inner);
  if (METADATA_SERVERS_IPV6.some((server) => ipv6(server)?.join() === bytes.join())) return true;
  const [first = 0, second = 0] = bytes;
  // fe80::/10 and ff00::/8; :: and ::1 embed 0.0.0.0 and 0.0.0.1.
  return first === 0xff || first === 0xfe && (second & 0xc0) === 0x80;
};

/** The IPv4 address within: mapped (::ffff:0:0/96), compatible (::/96), translated (64:ff9b::/96) and 6to4 (2002::/16). */
const embedded = (bytes: ReadonlyArray<number>): ReadonlyArray<number> | undefined => {
  if (bytes.length === 4) return undefined;
  const start = bytes.slice(0, 12);
  const isZero = (from: number, to: number) => start.slice(from, to).every((byte) => byte === 0);
  if (isZero(0, 10) && (isZero(10, 12) || start[10] === 0xff && start[11] === 0xff)) return bytes.slice(12);
  if (start[0] === 0 && start[1] === 0x64 && start[2] === 0xff && start[3] === 0x9b && isZero(4, 12)) {
    return bytes.slice(12);
  }
  // Translation again: ::ffff:0:0:0/96 and 64:ff9b:1::/48.
  if (isZero(0, 8) && start[8] === 0xff && start[9] === 0xff && isZero(10, 12)) return bytes.slice(12);
  if (
    start[0] === 0 && start[1] === 0x64 && start[2] === 0xff && start[3] === 0x9b && start[4] === 0 && start[5] === 1
  ) {
    return bytes.slice(12);
  }
  return start[0] === 0x20 && start[1] === 0x02 ? bytes.slice(2, 6) : undefined;
};

const ipv4 = (text: string): ReadonlyArray<number> | undefined => {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined;
  return parts.map(Number);
};

const ipv6 = (text: string): ReadonlyArray<number> | undefined => {
  const name = URL.parse(`http://[${text.replace(/%.*$/, "")}]`)?.hostname.slice(1, -1);
  if (name === undefined) return undefined;
  const [before = "", after] = name.split("::");
  const groups = (part: string) => part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
  const [head, tail] = [groups(before), groups(after ?? "")];
  const middle = after === undefined ? [] : Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return [...head, ...middle, ...tail].flatMap((group) => [group >> 8, group & 0xff]);
};
