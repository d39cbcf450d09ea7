import type { Scenario } from '../build/day.js'

export default {
  name: 'ru-bot',
  about: 'бот на TypeScript, по-русски: запреты, задачи, остановленная команда',
  language: 'ru',
  cwd: '/home/olga/bot',
  branch: 'main',
  start: '2026-11-04T11:30:00Z',
  day: (d) => {
    d.user(
      'Бот отвечает дважды на одно сообщение. Исправь, пожалуйста. Не трогай файл config.ts. Токен никогда не ' +
        'должен попадать в логи. Используй только pnpm.',
    )
      .never('Не трогай файл config.ts')
      .never('Токен никогда не должен попадать в логи')
      .must('Используй только pnpm')
    d.together(() => {
      d.task('Найти двойную подписку')
      d.task('Написать тест на повторное сообщение')
      d.task('Обновить зависимости')
    })
    d.read(
      'src/poll.ts',
      '// ВАЖНО: нельзя вызывать до авторизации\nbot.on("message", reply)\nbot.on("message", reply)\n',
    ).decoy('constraint', 'нельзя вызывать до авторизации', 'комментарий в коде')
    d.edit('src/poll.ts', 'bot.on("message", reply)\nbot.on("message", reply)', 'bot.on("message", reply)')
    d.taskIs(1, 'completed')
    d.interrupted('pnpm update --latest')
    d.user('стоп, зависимости обновлять не надо').never('зависимости обновлять не надо')
    d.taskIs(3, 'deleted')
    d.bash(
      'pnpm test',
      '> bot@0.9.0 test\n> mocha\n\n  poll\n    ✔ replies once\n    1) ignores repeated updates\n\n' +
        '  1 passing (11ms)\n  1 failing\n\n  1) poll\n       ignores repeated updates:\n' +
        '     AssertionError: expected 2 to equal 1',
      {
        exit: 1,
        test: 'failed',
        fails: ['ignores repeated updates'],
        passes: ['replies once'],
        error: 'expected 2 to equal 1',
      },
    )
    d.bash(
      'git commit -am "Убрать двойную подписку"',
      '[main 8e8f8a8] Убрать двойную подписку\n 1 file changed, 1 deletion(-)',
      {
        commit: { id: '8e8f8a8', subject: 'Убрать двойную подписку' },
      },
    )
    d.say(
      'Подписка теперь одна, но тест на повторные обновления ещё падает. Я решила хранить последний update_id в ' +
        'памяти, а не в файле, потому что бот работает в одном процессе.',
    ).decides('Я решила хранить последний update_id в памяти, а не в файле, потому что бот работает в одном процессе')
    d.user('А что будет после перезапуска?').wonders('А что будет после перезапуска?', 'open')
    d.read('src/state.ts', 'export const state = { last: 0 }\n')
  },
} satisfies Scenario
