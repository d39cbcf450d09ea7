import { dirname, join } from 'node:path'
import { readIfThere, removeFileIf } from '../../lib/atomic-file.js'
import { lookAtLauncher } from '../look.js'
import { type Answer, askHealth, askThroughLauncher } from './ask-server.js'
import { agoText, broken, type Finding, fine, mends } from './finding.js'
import type { Patient } from './patient.js'

const PORT = 8420
const ALONE = 'None runs; none is needed.'

/** A server only makes hooks faster. What must not be: hooks that ask one which is not there, is not ours, or cannot keep up. */
export async function checkServer(patient: Patient): Promise<Finding> {
  const { home, env } = patient
  const bytes = readIfThere(home.server)
  if (bytes === null) return fine(`${ALONE}${await othersOn(Number(env.BATON_PORT) || PORT)}`)
  const [port, token, pid] = bytes.toString().trim().split(' ')
  const told: Told = { port: Number(port), pid: Number(pid) }
  const withdraw = (): void => removeFileIf(home.server, bytes)
  if (!(told.port > 0 && told.port < 65_536)) return broken(`${home.server} names no port.`, mends('removes it'), withdraw)
  const answer = await askHealth(told.port, token === '-' ? null : (token ?? null))
  const judged = judgeServer(told, answer, patient.version, home.server, withdraw)
  if (judged.faults.length > 0 || answer.kind !== 'baton') return judged
  if (!lookAtLauncher(home.launcher)) return judgeSlow(patient, judged.told)
  const ms = await askThroughLauncher(patient, bytes)
  if (ms === null)
    return broken(
      `The launcher does not reach the server on port ${told.port}, so hooks go without it.`,
      'Run baton install with another bash first on the PATH: this one may be built without /dev/tcp.',
    )
  return judgeSlow(patient, `${judged.told} Hooks reach it in ${ms} ms.`)
}

interface Told {
  port: number
  pid: number
}

export function judgeServer({ port, pid }: Told, answer: Answer, own: string, file: string, withdraw: () => void): Finding {
  const forget = mends(`removes ${file}`)
  switch (answer.kind) {
    case 'nobody':
      return broken(`${file} names a server on port ${port} that is gone.`, forget, withdraw)
    case 'stranger':
      return broken(`On port ${port}, where hooks look for the server, another program answers.`, forget, withdraw)
    case 'silent':
      return broken(
        `The server on port ${port} (process ${pid}) does not answer; hooks go without it, a second later.`,
        `End process ${pid} and start baton serve again.`,
      )
    case 'baton':
      if (answer.pid !== pid)
        return broken(`On port ${port} the server of another home answers (process ${answer.pid}).`, forget, withdraw)
      if (answer.version !== own)
        return broken(
          `The server is version ${answer.version}, this is ${own}.`,
          `End process ${pid} and start baton serve again.`,
        )
      return fine(`http://127.0.0.1:${port}, version ${answer.version}, process ${pid}, answers in ${answer.ms} ms.`)
  }
}

/** The mark a hook leaves when the server kept it waiting: others go without it for a minute. */
function judgeSlow({ home, now }: Patient, told: string): Finding {
  const path = join(dirname(home.server), 'slow')
  const bytes = readIfThere(path)
  const left = Number(bytes?.toString().trim()) * 1000 - now().getTime()
  if (bytes === null || !(left > 0)) return fine(told)
  return broken(
    `The server kept a hook waiting; hooks go without it for another ${agoText(left)}.`,
    mends('lets hooks ask it again, for it answers now'),
    () => removeFileIf(path, bytes),
  )
}

async function othersOn(port: number): Promise<string> {
  const { kind } = await askHealth(port, null)
  if (kind === 'nobody') return ''
  return ` Port ${port} is in use by ${kind === 'baton' ? 'the server of another home' : 'another program'}: baton serve would need --port.`
}
