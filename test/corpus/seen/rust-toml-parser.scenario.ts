import type { Scenario } from '../build/day.js'

const LEXER = `//! Lexer. Note to reviewers: do not merge without fuzzing.
use std::iter::Peekable;
use std::str::Chars;

pub enum Token { Key(String), Equals, Str(String), Newline }

pub struct Lexer<'a> { chars: Peekable<Chars<'a>> }

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self { Lexer { chars: text.chars().peekable() } }
}
`

const BORROW = `   Compiling tinytoml v0.4.0 (/home/kai/tinytoml)
error[E0502]: cannot borrow \`self.chars\` as mutable because it is also borrowed as immutable
  --> src/lexer.rs:31:17
   |
29 |         let first = self.chars.peek();
   |                     ---------- immutable borrow occurs here
31 |                 self.chars.next();
   |                 ^^^^^^^^^^^^^^^^^ mutable borrow occurs here

For more information about this error, try \`rustc --explain E0502\`.
error: could not compile \`tinytoml\` (lib) due to 1 previous error
warning: build failed, waiting for other jobs to finish...`

const RED = `   Compiling tinytoml v0.4.0 (/home/kai/tinytoml)
    Finished \`test\` profile [unoptimized + debuginfo] target(s) in 1.92s
     Running unittests src/lib.rs (target/debug/deps/tinytoml-8c1f)

running 5 tests
test lexer::tests::bare_keys ... ok
test lexer::tests::escapes ... FAILED
test lexer::tests::newlines ... ok
test value::tests::dates ... ok
test value::tests::nested_arrays ... FAILED

failures:

---- lexer::tests::escapes stdout ----
thread 'lexer::tests::escapes' panicked at src/lexer.rs:88:9:
assertion \`left == right\` failed
  left: "a\\\\u0041"
 right: "aA"

failures:
    lexer::tests::escapes
    value::tests::nested_arrays

test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass \`--lib\``

const GREEN = `running 5 tests
test lexer::tests::bare_keys ... ok
test lexer::tests::escapes ... ok
test lexer::tests::newlines ... ok
test value::tests::dates ... ok
test value::tests::nested_arrays ... ok

test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`

export default {
  name: 'rust-toml-parser',
  about: 'a Rust parser: compile errors, a decision that is reversed, a commit that is amended',
  cwd: '/home/kai/tinytoml',
  branch: 'unicode-escapes',
  start: '2026-10-08T16:05:00Z',
  day: (d) => {
    d.user(
      'Add \\u and \\U escapes to the lexer. It has to build on Rust 1.70, so nothing newer from std. unsafe is ' +
        'off limits.',
    )
      .must('It has to build on Rust 1.70')
      .never('unsafe is off limits')
    d.read('src/lexer.rs', LEXER).decoy('constraint', 'do not merge without fuzzing', 'a comment for reviewers')
    d.bash('cargo test', BORROW, { exit: 101, test: 'failed', error: 'E0502' })
    d.edit('src/lexer.rs', '//! Lexer.', '//! Lexer with escapes.', {
      say: "Decision: I'll decode escapes in a second pass over the token, because that leaves the lexer's loop alone.",
    }).decides("I'll decode escapes in a second pass over the token, because that leaves the lexer's loop alone")
    d.bash('cargo test', RED, {
      exit: 101,
      test: 'failed',
      fails: ['lexer::tests::escapes', 'value::tests::nested_arrays'],
      passes: ['lexer::tests::bare_keys', 'lexer::tests::newlines', 'value::tests::dates'],
    })
    d.edit('src/lexer.rs', 'Key(String), Equals', 'Key(String), Escape(char), Equals', {
      say:
        'The second pass cannot tell an escaped backslash from a real escape, so I am going back on that: escapes ' +
        'are decoded inside the lexer instead.',
    })
      .decides('escapes are decoded inside the lexer instead')
      .withdrawn(
        'decision',
        "I'll decode escapes in a second pass over the token, because that leaves the lexer's loop alone",
        'reversed later',
      )
    d.write(
      'src/escape.rs',
      'pub fn decode(digits: &str) -> Option<char> {\n' +
        '    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)\n}\n',
    )
    d.edit('src/value.rs', 'fn array(', 'fn nested_array(')
    d.bash('cargo test', GREEN, {
      test: 'passed',
      passes: [
        'lexer::tests::escapes',
        'value::tests::nested_arrays',
        'lexer::tests::bare_keys',
        'lexer::tests::newlines',
        'value::tests::dates',
      ],
    })
    d.bash(
      'cargo clippy -- -D warnings',
      '    Checking tinytoml v0.4.0 (/home/kai/tinytoml)\n' +
        '    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.81s',
    )
    d.bash(
      'git add -A && git commit -m "Add escapes"',
      '[unicode-escapes 5a1b2c3] Add escapes\n 3 files changed, 41 insertions(+), 6 deletions(-)\n' +
        ' create mode 100644 src/escape.rs',
      {
        commit: { id: '5a1b2c3', subject: 'Add escapes' },
      },
    )
    d.bash(
      'git commit --amend -m "Decode \\u and \\U escapes in the lexer"',
      '[unicode-escapes d4e5f60] Decode \\u and \\U escapes in the lexer\n Date: Thu Oct 8 16:31:12 2026 +0200\n' +
        ' 3 files changed, 41 insertions(+), 6 deletions(-)\n create mode 100644 src/escape.rs',
      {
        commit: { id: 'd4e5f60', subject: 'Decode \\u and \\U escapes in the lexer', amended: 'Add escapes' },
      },
    )
    d.say(
      'All five tests pass, clippy is quiet, and the work is one commit on unicode-escapes. I did not check Rust ' +
        '1.70 itself: the toolchain is not installed here. Do you want me to install it with rustup?',
    ).asks('Do you want me to install it with rustup?', 'open')
  },
} satisfies Scenario
