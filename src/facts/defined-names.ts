/**
 * Names of what a piece of source code defines: functions, methods, types, tests, settings.
 * A successor who knows them finds the place without reading the whole file.
 */

const DEFINES = new RegExp(
  [
    // JavaScript, TypeScript, PHP, Lua.
    String.raw`\bfunction\*? ([\w$]{2,60})`,
    String.raw`\b(?:const|let|var) ([\w$]{2,60})(?:: [^=\n]{1,80})? = ` +
      String.raw`(?:async )?(?:function|\(|[\w$]{1,40} =>|class)`,
    // Go, Rust, Swift, Kotlin, Python, Ruby, Scala, Elixir.
    String.raw`\bfunc (?:\([^)\n]{1,60}\) )?(\w{2,60})`,
    String.raw`\b(?:fn|fun|def|defp|defmodule) (?:self\.)?([\w.?!]{2,60})`,
    // Types in most languages.
    String.raw`\b(?:class|interface|struct|enum|trait|protocol|type|impl|module|record) ([A-Z]\w{1,60})`,
    // Methods of Java-like languages.
    String.raw`\b(?:public|private|protected|internal|static|override|suspend)` +
      String.raw`(?: [\w<>[\],?.]{1,60}){1,4} (\w{2,60})\(`,
    // Names of shell functions, SQL objects and Terraform blocks.
    String.raw`^([\w-]{2,60}) ?\(\) ?\{`,
    '\\b(?:create|alter|drop) (?:or replace )?(?:table|view|function|index|type)' +
      '(?: if (?:not )?exists)? ["`]?([\\w.]{2,80})',
    String.raw`\b(?:resource|data|variable|module) "(\w{2,60})"`,
    // Names of tests.
    '\\b(?:test|it|describe|t\\.Run)\\(\\s?[\'"`]([^\'"`\\n]{3,80})[\'"`]',
  ].join('|'),
  'gim',
)

/** Words that the patterns take for names. */
const NO_NAMES = new Set('if for while switch return new in of is not default async await'.split(' '))

/** Most characters that are read: a written file can be long. */
const LONGEST_CODE = 20_000

/** Returns the distinct names that a text defines, in their order. */
export function definedNames(code: string): string[] {
  const names = new Set<string>()
  for (const match of code.slice(0, LONGEST_CODE).matchAll(DEFINES)) {
    const name = match.slice(1).find((group) => group !== undefined)
    if (name !== undefined && !NO_NAMES.has(name)) names.add(name)
  }
  return [...names]
}
