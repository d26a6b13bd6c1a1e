/** Which network addresses the gateway may speak to on behalf of a stranger. Pure. */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = [Address, number];

/** Only here does IPv6 hand out addresses of the public internet (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Never reached, whatever networks an operator allows: from link-local addresses every cloud hands out the
 * machine's credentials, and some do so from addresses that look like any other.
 */
const forbidden: readonly Network[] = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
].map((network) => ipaddr.parseCIDR(network));

/** `10.0.0.0/8` or a bare address; throws when it is neither. */
export function parseNetwork(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** An address of a network that the operator allows. */
export function isAllowedAddress(text: string, allowed: readonly Network[]): boolean {
  const address = parse(text);
  return address !== undefined && !isIn(address, forbidden) && isIn(address, allowed);
}

/** An address that anybody on the internet can reach, or one of a network that the operator allows. */
export function isReachableAddress(text: string, allowed: readonly Network[]): boolean {
  const address = parse(text);
  if (address === undefined || isIn(address, forbidden)) return false;
  return isIn(address, allowed) || isPublic(address);
}

/** An IPv4 address that wears an IPv6 one (`::ffff:127.0.0.1`) is judged as what it is. */
function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

/** `unicast` is what is left when private, loopback, CGNAT, multicast, NAT64, 6to4, Teredo … are taken away. */
function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, [globalUnicast]));
}

function isIn(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([base, bits]) => base.kind() === address.kind() && address.match([base, bits]));
}
