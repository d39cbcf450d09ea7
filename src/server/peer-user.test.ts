import { once } from 'node:events'
import { createServer, connect as dial, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { findOwners, isPeerOf, makePeerCheck, readSocketTables, type SocketTables } from './peer-user.js'

/**
 * Recorded on Linux 6 while a root process listened on [::]:34629. The peer at 37900 was a process
 * of uid 65534 that had connected, written one byte and closed.
 */
const RECORDED: SocketTables = {
  tcp: `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
  14: 0100007F:93FA 0100007F:8745 01 00000000:00000000 00:00000000 00000000     0        0 759974 2 \
00000000aced43ae 20 0 0 10 -1
  15: 0100007F:940C 0100007F:8745 05 00000000:00000000 03:0000175E 00000000     0        0 0 3 000000000231eede
`,
  tcp6: `  sl  local_address                         remote_address                        st tx_que\
ue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:8745 00000000000000000000000000000000:0000 0A 00000000:000000\
00 00:00000000 00000000     0        0 759973 1 000000003e59d596 100 0 0 10 0
   1: 00000000000000000000000001000000:8745 00000000000000000000000001000000:DC1C 01 00000000:000000\
00 00:00000000 00000000     0        0 759977 1 000000007b8bc485 20 0 0 10 -1
   2: 0000000000000000FFFF00000100007F:8745 0000000000000000FFFF00000100007F:940C 08 00000000:000000\
00 00:00000000 00000000     0        0 759997 1 0000000065860d5b 20 4 28 10 -1
   3: 0000000000000000FFFF00000100007F:9406 0000000000000000FFFF00000100007F:8745 01 00000000:000000\
00 00:00000000 00000000     0        0 759978 2 00000000ce428b41 20 0 0 10 -1
   6: 00000000000000000000000001000000:DC1C 00000000000000000000000001000000:8745 01 00000000:000000\
00 00:00000000 00000000     0        0 759976 2 00000000f1cdfcd4 20 0 0 10 -1
`,
}
const MAPPED = { address: '::ffff:127.0.0.1', port: 34_629 }

test('a peer is found by its own row, in whichever table and form the kernel lists it', () => {
  const ends = [
    [{ address: '::ffff:127.0.0.1', port: 37_882 }, MAPPED, 759_974],
    [{ address: '127.0.0.1', port: 37_882 }, { address: '127.0.0.1', port: 34_629 }, 759_974],
    [{ address: '::ffff:127.0.0.1', port: 37_894 }, MAPPED, 759_978],
    [{ address: '::1', port: 56_348 }, { address: '::1', port: 34_629 }, 759_976],
  ] as const
  for (const [peer, local, inode] of ends) {
    expect(findOwners(peer, local, RECORDED)).toEqual([{ uid: 0, inode }])
    expect(isPeerOf(0, peer, local, RECORDED)).toBe(true)
    expect(isPeerOf(1_000, peer, local, RECORDED)).toBe(false)
  }
})

test('a peer that has closed its socket is listed with uid 0 and inode 0 and is not taken for root', () => {
  const closed = { address: '::ffff:127.0.0.1', port: 37_900 }
  expect(findOwners(closed, MAPPED, RECORDED)).toEqual([{ uid: 0, inode: 0 }])
  expect(isPeerOf(0, closed, MAPPED, RECORDED)).toBe(false)
})

test('a peer without a row, with a truncated row or with an invalid address has no owner', () => {
  const peer = { address: '127.0.0.1', port: 37_882 }
  const local = { address: '127.0.0.1', port: 34_629 }
  expect(isPeerOf(0, { ...peer, port: 37_883 }, local, RECORDED)).toBe(false)
  expect(isPeerOf(0, peer, { ...local, port: 34_630 }, RECORDED)).toBe(false)
  expect(isPeerOf(0, { address: '192.0.2.7', port: 37_882 }, local, RECORDED)).toBe(false)
  const cut = RECORDED.tcp.slice(0, RECORDED.tcp.indexOf('759974') + 3)
  expect(isPeerOf(0, peer, local, { tcp: cut, tcp6: '' })).toBe(false)
  for (const address of ['', 'localhost', '::1::', '1:2:3', '::g', '1.2.3', '1:2:3:4:5:6:7:8:9'])
    expect(isPeerOf(0, { address, port: 37_882 }, { address, port: 34_629 }, RECORDED), address).toBe(false)
})

test('two rows for one connection must both belong to the user', () => {
  const peer = { address: '127.0.0.1', port: 37_882 }
  const local = { address: '127.0.0.1', port: 34_629 }
  const row = RECORDED.tcp.split('\n')[1]!
  const other = row.replace('     0        0 759974', '  1000        0 759974')
  expect(isPeerOf(0, peer, local, { tcp: `${row}\n${row}\n`, tcp6: '' })).toBe(true)
  expect(isPeerOf(0, peer, local, { tcp: `${row}\n${other}\n`, tcp6: '' })).toBe(false)
})

test('requests that arrive while the tables are read wait for the next read, and share it', async () => {
  const reads: ((tables: SocketTables) => void)[] = []
  const check = makePeerCheck(() => new Promise((resolve) => void reads.push(resolve)))
  const peer = { address: '127.0.0.1', port: 1 }
  const answers = Promise.all(Array.from({ length: 50 }, () => check(peer, peer)))
  expect(reads).toHaveLength(1)
  reads[0]!({ tcp: '', tcp6: '' })
  await expect.poll(() => reads.length).toBe(2)
  reads[1]!({ tcp: '', tcp6: '' })
  expect(await answers).toEqual(Array(50).fill(false))
  expect(reads).toHaveLength(2)
})

test.runIf(process.platform === 'linux').each(['127.0.0.1', '::', '::1'])(
  'a process of this user is recognised through a real connection to %s',
  async (host) => {
    const server = createServer()
    onTestFinished(() => void server.close())
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen({ host, port: 0 }, () => resolve(true))
    })
    // Skip on a machine without IPv6.
    if (!listening) return
    const { port } = server.address() as { port: number }
    const client = dial(port, host === '::1' ? '::1' : '127.0.0.1')
    onTestFinished(() => void client.destroy())
    const [socket] = (await once(server, 'connection')) as [Socket]
    onTestFinished(() => void socket.destroy())
    const peer = { address: socket.remoteAddress!, port: socket.remotePort! }
    const local = { address: socket.localAddress!, port: socket.localPort! }
    expect(await makePeerCheck()(peer, local)).toBe(true)
    expect(isPeerOf(process.getuid!() + 1, peer, local, await readSocketTables())).toBe(false)
  },
)
