import type { Scenario } from '../build/day.js'

const EPOCH = (n: number): string =>
  `epoch ${n}/4 | loss ${(2.1 / n).toFixed(3)} | val ${(0.4 + n / 12).toFixed(3)} | lr 3.0e-04 | 41.2 it/s`

export default {
  name: 'ml-training',
  about: 'training a model in Python: a run that goes on in the background, choices made and rejected, tasks by id',
  cwd: '/data/ranker',
  branch: 'exp/dropout',
  start: '2026-10-30T17:45:00Z',
  day: (d) => {
    d.user(
      'Validation stalls at 0.62. Try dropout and label smoothing. GPU 0 is reserved for Maria, so use GPU 1 only. ' +
        'Do not train for more than 4 epochs per run. Everything must be reproducible: fix the seeds.',
    )
      .must('use GPU 1 only')
      .never('Do not train for more than 4 epochs per run')
      .must('Everything must be reproducible')
    d.together(() => {
      d.task('Baseline run with fixed seeds')
      d.task('Run with dropout 0.1')
      d.task('Run with label smoothing 0.05')
      d.task('Sweep the learning rate')
      d.task('Write up the results')
    })
    d.read('train.py', '# WARNING: never shuffle the validation set\nimport torch\n\ntorch.manual_seed(0)\n').decoy(
      'constraint',
      'never shuffle the validation set',
      'a comment',
    )
    d.read('conf/base.yaml', 'epochs: 12\ndropout: 0.0\nsmoothing: 0.0\n')
    d.edit('conf/base.yaml', 'epochs: 12', 'epochs: 4')
    d.taskIs(1, 'in_progress')
    d.bash(
      'CUDA_VISIBLE_DEVICES=1 python train.py conf/base.yaml',
      'Traceback (most recent call last):\n  File "train.py", line 88, in <module>\n    main()\n' +
        '  File "train.py", line 61, in main\n    torch.use_deterministic_algorithms(True)\n' +
        'RuntimeError: Deterministic behavior was enabled, but this operation is not deterministic because it uses ' +
        'CuBLAS',
      { exit: 1, error: 'RuntimeError: Deterministic behavior was enabled' },
    )
    d.bash(
      'CUBLAS_WORKSPACE_CONFIG=:4096:8 CUDA_VISIBLE_DEVICES=1 python train.py conf/base.yaml',
      [1, 2, 3, 4].map(EPOCH).join('\n'),
    )
    d.taskIs(1, 'completed', { say: 'The baseline is 0.733 with fixed seeds.' })
    d.bash("sed 's/dropout: 0.0/dropout: 0.1/' conf/base.yaml > conf/dropout.yaml", '', {
      changes: ['conf/dropout.yaml'],
    })
    d.bash("sed 's/smoothing: 0.0/smoothing: 0.05/' conf/base.yaml > conf/smooth.yaml", '', {
      changes: ['conf/smooth.yaml'],
    })
    d.taskIs(2, 'in_progress')
    d.background('CUBLAS_WORKSPACE_CONFIG=:4096:8 CUDA_VISIBLE_DEVICES=1 python train.py conf/dropout.yaml', {
      description: 'Train with dropout',
      end: { exit: 0 },
    })
    d.taskIs(2, 'completed', {
      say:
        "Dropout brings 0.741. I'm dropping the learning rate sweep: at four epochs the schedule never leaves " +
        'warm-up, so the result would say nothing.',
    }).decides(
      "I'm dropping the learning rate sweep: at four epochs the schedule never leaves warm-up, so the result would " +
        'say nothing',
    )
    d.taskIs(4, 'deleted')
    d.taskIs(3, 'in_progress')
    d.background('CUBLAS_WORKSPACE_CONFIG=:4096:8 CUDA_VISIBLE_DEVICES=1 python train.py conf/smooth.yaml', {
      description: 'Train with smoothing',
    })
    d.queued('please also log the gradient norm, but not to wandb').never('not to wandb')
    d.edit('train.py', 'torch.manual_seed(0)', 'torch.manual_seed(0)\nlog = open("grad.log", "a")')
    d.bash(
      'git add -A && git commit -m "exp: dropout and smoothing configs"',
      '[exp/dropout 5eed001] exp: dropout and smoothing configs\n 4 files changed, 8 insertions(+), 1 deletion(-)',
      { commit: { id: '5eed001', subject: 'exp: dropout and smoothing configs' } },
    )
    d.say(
      'The smoothing run is still going. I log to grad.log instead of tensorboard because the cluster does not ' +
        'keep event files. Which metric shall decide between the two, NDCG or loss?',
    )
      .decides('I log to grad.log instead of tensorboard because the cluster does not keep event files')
      .asks('Which metric shall decide between the two, NDCG or loss?', 'open')
  },
} satisfies Scenario
