import type { Scenario } from '../build/day.js'

const RED = `..F...F.

Failures:

  1) Invites POST /invites refuses an invite to a member
     Failure/Error: expect(response).to have_http_status(:conflict)
       expected the response to have status code :conflict (409) but it was :created (201)
     # ./spec/requests/invites_spec.rb:31

  2) Invite expires after seven days
     Failure/Error: expect(invite).to be_expired
       expected \`#<Invite id: 3>.expired?\` to be truthy, got false
     # ./spec/models/invite_spec.rb:12

Finished in 1.31 seconds (files took 2.4 seconds to load)
8 examples, 2 failures

Failed examples:

rspec ./spec/requests/invites_spec.rb:28 # Invites POST /invites refuses an invite to a member
rspec ./spec/models/invite_spec.rb:10 # Invite expires after seven days`

export default {
  name: 'rails-invites',
  about:
    'a Rails API: a plan, tasks by id, questions with choices, a decision taken back, a queued question without answer',
  cwd: '/home/rae/teamhub',
  branch: 'main',
  start: '2026-11-09T13:00:00Z',
  day: (d) => {
    d.user(
      'We need invites: POST /invites sends a mail, they expire after 7 days. Stick to the existing mailer. I do ' +
        'not want any new gems. Please make sure that no email address ever ends up in the logs.',
    )
      .must('Stick to the existing mailer')
      .never('I do not want any new gems')
      .never('no email address ever ends up in the logs')
    d.plan('1. Model and migration\n2. Request spec\n3. Mailer\n\nWe must not forget the rate limit.').decoy(
      'constraint',
      'We must not forget the rate limit',
      'the plan of the agent',
    )
    d.together(() => {
      d.task('Model and migration for invites')
      d.task('POST /invites with a request spec')
      d.task('Mail through AccountMailer')
      d.task('Rate limit per team')
    })
    d.together(() => {
      d.glob('app/mailers/*.rb', ['app/mailers/account_mailer.rb', 'app/mailers/application_mailer.rb'])
      d.grep('rate_limit', [
        'app/controllers/sessions_controller.rb:4:  rate_limit to: 10, within: 3.minutes # never raise this',
      ])
    }).decoy('constraint', 'never raise this', 'found by a search')
    d.ask(
      'Shall an invite be bound to an address or usable by anyone with the link?',
      ['Bound', 'Anyone with the link'],
      'Bound',
    )
    d.bash(
      'bin/rails g model Invite team:references email:string token:string expires_at:datetime',
      '      invoke  active_record\n      create    db/migrate/20261109130211_create_invites.rb\n' +
        '      create    app/models/invite.rb',
      { scratch: ['db/migrate/20261109130211_create_invites.rb'] },
    )
    d.write(
      'app/models/invite.rb',
      'class Invite < ApplicationRecord\n  belongs_to :team\n  def expired? = expires_at.past?\nend\n',
      { say: "I'll store the token in plain text for now, since it is only valid for a week." },
    ).decides("I'll store the token in plain text for now, since it is only valid for a week")
    d.write(
      'app/controllers/invites_controller.rb',
      'class InvitesController < ApplicationController\n  def create\n    head :created\n  end\nend\n',
    )
    d.bash('bundle exec rspec', RED, {
      exit: 1,
      test: 'failed',
      fails: ['Invites POST /invites refuses an invite to a member', 'Invite expires after seven days'],
    })
    d.taskIs(1, 'completed')
    d.taskIs(2, 'in_progress')
    d.edit(
      'app/controllers/invites_controller.rb',
      '    head :created',
      '    return head :conflict if member?\n    head :created',
    )
    d.edit('app/models/invite.rb', 'expires_at.past?', 'Time.current >= expires_at', {
      say:
        'On second thought the token should be hashed: a leaked backup would let anyone join. I am switching to a ' +
        'digest column.',
    })
      .decides('I am switching to a digest column')
      .withdrawn(
        'decision',
        "I'll store the token in plain text for now, since it is only valid for a week",
        'reversed later',
      )
      .mayDecide('On second thought the token should be hashed: a leaked backup would let anyone join')
    d.queued('what happens to open invites when a team is deleted?').wonders(
      'what happens to open invites when a team is deleted?',
      'open',
    )
    d.bash(
      'bundle exec rspec spec/requests/invites_spec.rb',
      '....\n\nFinished in 0.61 seconds (files took 2.2 seconds to load)\n4 examples, 0 failures',
      { test: 'passed', passes: ['Invites POST /invites refuses an invite to a member'] },
    )
    d.taskIs(2, 'completed')
    d.taskIs(4, 'deleted')
    d.taskIs(3, 'in_progress')
    d.read(
      'app/mailers/account_mailer.rb',
      '# Do not call deliver_now here.\nclass AccountMailer < ApplicationMailer\nend\n',
    ).decoy('constraint', 'Do not call deliver_now here', 'a comment')
    d.editFails('app/mailers/account_mailer.rb', 'def invite', 'def invite(to)').decoy(
      'file',
      'app/mailers/account_mailer.rb',
      'read, the change failed',
    )
    d.ask('Which sender address shall the mail have?', ['noreply@', 'team@'], null)
  },
} satisfies Scenario
