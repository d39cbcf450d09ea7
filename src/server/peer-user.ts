import { open } from 'node:fs/promises'
import { isIPv4 } from 'node:net'

/** An end of a TCP connection, as `net.Socket` names it. */
export interface SocketEnd {
  address: string
  port: number
}

/** The owner of a socket, as Linux lists it in /proc/net/tcp and tcp6. */
interface SocketOwner {
  uid: number
  /** Inode of the socket. 0 when no process holds it any more. Such rows have uid 0. */
  inode: number
}

/** Contents of /proc/net/tcp and /proc/net/tcp6. Empty where the system has no such file. */
export interface SocketTables {
  tcp: string
  tcp6: string
}

/**
 * Returns whether the process at the other end of a connection belongs to the given user.
 * A peer that has closed its socket is listed with uid 0 and inode 0.
 * Such a peer would pass for root, so it is refused.
 */
export function isPeerOf(uid: number, peer: SocketEnd, local: SocketEnd, tables: SocketTables): boolean {
  const owners = findOwners(peer, local, tables)
  return owners.length > 0 && owners.every((owner) => owner.uid === uid && owner.inode !== 0)
}

/**
 * Owners of the sockets that lead from `peer` to `local`.
 * Empty when the peer is on another machine.
 * A row may be listed twice, because the table changes while it is read.
 */
export function findOwners(peer: SocketEnd, local: SocketEnd, { tcp, tcp6 }: SocketTables): SocketOwner[] {
  const [from, to] = [ipv4Of(peer.address), ipv4Of(local.address)]
  // A client may reach an IPv4 address through an IPv6 socket too.
  if (from !== null && to !== null)
    return [
      ...ownersIn(tcp, `${hexOf(ipv4Bytes(from))}:${hexPort(peer)} ${hexOf(ipv4Bytes(to))}:${hexPort(local)}`),
      ...ownersIn(tcp6, `${hexOf(mappedBytes(from))}:${hexPort(peer)} ${hexOf(mappedBytes(to))}:${hexPort(local)}`),
    ]
  const [from6, to6] = [ipv6Bytes(peer.address), ipv6Bytes(local.address)]
  if (from6 === null || to6 === null) return []
  return ownersIn(tcp6, `${hexOf(from6)}:${hexPort(peer)} ${hexOf(to6)}:${hexPort(local)}`)
}

/**
 * Columns of the table: number, local address, remote address, state, queues, timer.
 * Further columns: retransmits, uid, timeout, inode, …
 */
function ownersIn(table: string, ends: string): SocketOwner[] {
  const owners: SocketOwner[] = []
  for (let at = table.indexOf(` ${ends} `); at >= 0; at = table.indexOf(` ${ends} `, at + 1)) {
    const [, , , , , , uid = '', , inode = ''] = lineAt(table, at + 1).split(/ +/)
    // A truncated row is ignored.
    if (/^\d+$/.test(uid) && /^\d+$/.test(inode)) owners.push({ uid: Number(uid), inode: Number(inode) })
  }
  return owners
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at)
  return end < 0 ? '' : text.slice(at, end)
}

/** The IPv4 address, also one mapped into IPv6. Null for any other address. */
function ipv4Of(address: string): string | null {
  const plain = address.replace(/^::ffff:/i, '')
  return isIPv4(plain) ? plain : null
}

const ipv4Bytes = (address: string): Buffer => Buffer.from(address.split('.').map(Number))

const mappedBytes = (address: string): Buffer =>
  Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), ipv4Bytes(address)])

/** Bytes of an IPv6 address without its zone (`%eth0`). Null when it is not an IPv6 address. */
function ipv6Bytes(address: string): Buffer | null {
  const halves = address.replace(/%.*$/, '').split('::')
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = halves.length === 2 ? 8 - head.length - tail.length : 0
  if (halves.length > 2 || missing < 0 || head.length + missing + tail.length !== 8) return null
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  const bytes = Buffer.alloc(16)
  for (const [index, group] of groups.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2)
  return bytes
}

/**
 * The kernel prints addresses as 32-bit words in the machine's byte order.
 * Node for Linux runs only on little-endian machines today, so the words are reversed.
 */
function hexOf(bytes: Buffer): string {
  return Buffer.from(bytes).swap32().toString('hex').toUpperCase()
}

const hexPort = ({ port }: SocketEnd): string => port.toString(16).toUpperCase().padStart(4, '0')

/**
 * Maximum number of bytes read of each table, about 50,000 sockets.
 * A peer listed after these bytes needs the token.
 */
const MAX_TABLE = 8 * 1024 * 1024

/** Reads the tables of all TCP sockets of this network namespace. */
export async function readSocketTables(): Promise<SocketTables> {
  const [tcp, tcp6] = await Promise.all([readTable('/proc/net/tcp'), readTable('/proc/net/tcp6')])
  return { tcp, tcp6 }
}

async function readTable(path: string): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const buffer = Buffer.alloc(64 * 1024)
      let text = ''
      while (text.length < MAX_TABLE) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
        if (bytesRead === 0) break
        text += buffer.toString('latin1', 0, bytesRead)
      }
      return text
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}

/** Tells whether the other end of a connection belongs to the user who runs this server. */
export type PeerCheck = (peer: SocketEnd, local: SocketEnd) => Promise<boolean>

/**
 * Makes the check for this process.
 * Requests that arrive while the tables are read share the next read.
 * Therefore even a flood of requests causes only one read at a time.
 */
export function makePeerCheck(read: () => Promise<SocketTables> = readSocketTables): PeerCheck {
  const uid = process.getuid?.()
  let current: Promise<SocketTables> | null = null
  let next: Promise<SocketTables> | null = null
  const begin = (): Promise<SocketTables> => {
    next = null
    const reading = read().finally(() => {
      if (current === reading) current = null
    })
    current = reading
    return reading
  }
  /**
   * Waits for the next read, because a running one may already have passed this connection's row.
   */
  const tables = (): Promise<SocketTables> => {
    if (current === null) return begin()
    next ??= current.then(begin, begin)
    return next
  }
  return async (peer, local) => uid !== undefined && isPeerOf(uid, peer, local, await tables())
}
