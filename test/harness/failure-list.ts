import type { Reporter, TestModule } from 'vitest/node'

const LONGEST_MESSAGE = 300

/**
 * Reporter that repeats every failed test in one line at the end, so that a truncated log names
 * them all.
 */
export default class FailureList implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message?: string }[]): void {
    const failed = modules.flatMap((module) => [
      ...module.errors().map((error) => line(module.relativeModuleId, error.message)),
      ...[...module.children.allTests('failed')].map((test) =>
        line(`${module.relativeModuleId} > ${test.fullName}`, test.result().errors?.[0]?.message),
      ),
    ])
    const all = [...failed, ...errors.map((error) => line('outside of tests', error.message))]
    if (all.length > 0) process.stdout.write(`\nFailed:\n${all.join('\n')}\n`)
  }
}

function line(name: string, message = ''): string {
  return `- ${name}\n    ${message.replace(/\s+/g, ' ').slice(0, LONGEST_MESSAGE)}`
}
