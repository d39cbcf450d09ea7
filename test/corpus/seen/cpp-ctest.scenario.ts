import type { Scenario } from '../build/day.js'

const RED = `Test project /home/ben/codec/build
    Start 1: header
1/4 Test #1: header ...........................   Passed    0.01 sec
    Start 2: huffman
2/4 Test #2: huffman ..........................***Failed    0.03 sec
    Start 3: roundtrip
3/4 Test #3: roundtrip ........................***Failed    0.40 sec
    Start 4: fuzz_seed
4/4 Test #4: fuzz_seed ........................   Passed    1.12 sec

50% tests passed, 2 tests failed out of 4

Total Test time (real) =   1.57 sec

The following tests FAILED:
	  2 - huffman (Failed)
	  3 - roundtrip (Failed)
Errors while running CTest`

const HALF = RED.replace('50% tests passed, 2 tests failed', '75% tests passed, 1 tests failed')
  .replace('huffman ..........................***Failed', 'huffman ..........................   Passed')
  .replace('	  2 - huffman (Failed)\n', '')

export default {
  name: 'cpp-ctest',
  about:
    'a C++ codec with CMake: compiler noise, one test repaired, one still failing, a build in the background that ' +
    'failed',
  cwd: '/home/ben/codec',
  branch: 'huffman-tables',
  start: '2026-10-27T18:30:00Z',
  day: (d) => {
    d.user(
      'Two ctest cases broke after the table rewrite. C++17 only. Keep the ABI of codec.h stable, and avoid ' +
        'exceptions in the hot path.',
    )
      .must('C++17 only')
      .must('Keep the ABI of codec.h stable')
      .never('avoid exceptions in the hot path')
    d.bash(
      'cmake -S . -B build -G Ninja',
      '-- The CXX compiler identification is GNU 13.2.0\n-- Configuring done (0.9s)\n-- Generating done (0.0s)\n' +
        '-- Build files have been written to: /home/ben/codec/build',
    )
    d.background('cmake --build build --target fuzz', { description: 'Build the fuzzer', end: { exit: 1 } })
    d.bash(
      'cmake --build build 2>&1 | tail -20',
      '[1/9] Building CXX object src/huffman.cpp.o\n' +
        "src/huffman.cpp:41:19: warning: comparison of integer expressions of different signedness: 'int' and " +
        "'size_t' [-Wsign-compare]\n   41 |   for (int i = 0; i < codes.size(); ++i) {\n" +
        '[9/9] Linking CXX executable tests/codec_tests',
    )
    d.bash('ctest --test-dir build', RED, {
      exit: 8,
      test: 'failed',
      fails: ['huffman', 'roundtrip'],
      passes: ['header', 'fuzz_seed'],
    })
    d.read(
      'src/huffman.cpp',
      '// Canonical codes. Do not reorder: the decoder relies on it.\n#include "huffman.h"\n\n' +
        'void assign(std::vector<Code>& codes) {\n  for (int i = 0; i < codes.size(); ++i) {\n  }\n}\n',
    ).decoy('constraint', 'Do not reorder: the decoder relies on it', 'a comment')
    d.edit(
      'src/huffman.cpp',
      'for (int i = 0; i < codes.size(); ++i) {',
      'for (std::size_t i = 0; i < codes.size(); ++i) {\n    codes[i].bits = next[codes[i].length]++;',
    )
    d.bash('cmake --build build && ctest --test-dir build', HALF, {
      exit: 8,
      test: 'failed',
      fails: ['roundtrip'],
      passes: ['huffman'],
    })
    d.read('tests/roundtrip.cpp', 'TEST(roundtrip) { /* TODO: must also cover empty input */ }\n').decoy(
      'todo',
      'must also cover empty input',
      'a comment',
    )
    d.queued(
      'CI on mac says this, is it related?\n\n```\nld: warning: you must not link libstdc++ twice\n' +
        'TODO: drop 10.13\n$ git commit -m "bump macos"\nerror: never reached\n```\n\n' +
        'Please keep the mac build working, whatever you do.',
    )
      .must('Please keep the mac build working')
      .wonders('CI on mac says this, is it related?', 'answered')
      .decoy('constraint', 'you must not link libstdc++ twice', 'a log pasted into the prompt')
      .decoy('todo', 'drop 10.13', 'a log pasted into the prompt')
      .decoy('commit', 'bump macos', 'a log pasted into the prompt')
    d.bash('grep -n "stdc++" CMakeLists.txt', '12:target_link_libraries(codec PRIVATE stdc++)')
    d.say(
      'The mac warning is unrelated: CMakeLists.txt links libstdc++ once too often. huffman passes again. ' +
        "roundtrip still fails: the header writes the table length before the tables are sorted. I'd rather sort at " +
        'construction than in the writer, because the reader then needs no change. Is it fine to change the ' +
        'constructor of Table, which is not part of codec.h?',
    )
      .decides("I'd rather sort at construction than in the writer, because the reader then needs no change")
      .asks('Is it fine to change the constructor of Table, which is not part of codec.h?', 'open')
  },
} satisfies Scenario
