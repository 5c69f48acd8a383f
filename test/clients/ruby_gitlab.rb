# frozen_string_literal: true

# Drives the sandbox with ruby-gitlab, a client that knows nothing of this project and sends forms, not JSON.
#
# Reads SANDBOX_URL and SANDBOX_TOKEN_<USER> from the environment, prints one line per check (`ok …`, `not ok …`)
# and exits 1 when one of them failed.

require 'gitlab'

$stdout.sync = true
ENDPOINT = "#{ENV.fetch('SANDBOX_URL')}/api/v4"

def token(name) = ENV.fetch("SANDBOX_TOKEN_#{name.upcase}")
def client(secret) = Gitlab.client(endpoint: ENDPOINT, private_token: secret)

ROOT = client(token('root'))
MARIA = client(token('maria'))
JONAS = client(token('jonas'))

$failed = 0
$section = ''
S = Struct.new(:me, :maria, :jonas, :group, :project, :mr, :pipeline, :schedule, :milestone, :seeded, :broken_job, :secret).new

def section(name)
  $section = name
end

def check(name)
  yield
  puts "ok #{$section}: #{name}"
rescue StandardError => e
  $failed += 1
  line = e.backtrace.find { |place| place.start_with?(__FILE__) }.to_s[/:(\d+):/, 1]
  puts "not ok #{$section}: #{name}: #{e.class}: #{e.message.to_s.tr("\n", ' ')[0, 300]} (line #{line})"
end

def equal(got, wanted)
  raise "got #{got.inspect}, wanted #{wanted.inspect}" unless got == wanted
end

def within(part, whole)
  raise "#{part.inspect} is not in #{whole.inspect[0, 300]}" unless whole.include?(part)
end

# The block must fail with this error (or one of these).
def fails(*kinds, says: nil)
  yield
rescue Gitlab::Error::ResponseError => e
  raise "got #{e.class} (#{e.message[0, 200]}), wanted #{kinds.inspect}" unless kinds.any? { |kind| e.is_a?(kind) }

  within(says.downcase, e.message.downcase) if says
else
  raise "nothing failed, wanted #{kinds.inspect}"
end

BadRequest = Gitlab::Error::BadRequest
Unauthorized = Gitlab::Error::Unauthorized
Forbidden = Gitlab::Error::Forbidden
NotFound = Gitlab::Error::NotFound
NotAllowed = Gitlab::Error::MethodNotAllowed
Conflict = Gitlab::Error::Conflict
Unprocessable = Gitlab::Error::Unprocessable

CI_FILE = "stages: [build, test]\ncompile:\n  stage: build\n  script: [make]\nunit:\n  stage: test\n  script: [make test]\n"

# ----------------------------------------------------------------------------------------------------------------------
section 'sign-in'

check('a token says who is asking') do
  S.me = ROOT.user
  S.maria = MARIA.user
  S.jonas = JONAS.user
  equal([S.me, S.maria, S.jonas].map(&:id).uniq.size, 3)
end

check('a wrong token: 401') { fails(Unauthorized, says: '401 Unauthorized') { client('wrong').user } }
check('a wrong long token, sent as a bearer: 401') { fails(Unauthorized) { client('glpat-wrong-and-quite-long').user } }
check('an expired token: 401') { fails(Unauthorized) { client(token('expired')).user } }
check('a token that only reads may not write: 403') { fails(Forbidden) { client(token('reader')).create_project('no') } }
check('a burst is turned away (429), then let in') do
  fails(Gitlab::Error::TooManyRequests, says: 'Retry later') { ROOT.get('/metadata') }
  within('.', ROOT.get('/metadata').version)
end

check('an outage (503) passes') do
  fails(Gitlab::Error::ServiceUnavailable) { ROOT.emails }
  equal(ROOT.emails.size, 1)
end

check('version') { within('.', ROOT.version.version) }
check('markdown is rendered') { within('<strong>', ROOT.markdown('**bold**').html) }

# ----------------------------------------------------------------------------------------------------------------------
section 'users and groups'

check('users: list, by name, one') do
  within(S.maria.id, ROOT.users.auto_paginate.map(&:id))
  equal(ROOT.users(username: S.maria.username).map(&:id), [S.maria.id])
  equal(ROOT.user(S.jonas.id).username, S.jonas.username)
end

check('an unknown user: 404') { fails(NotFound) { ROOT.user(9_999_999) } }

check('users: create, change, block, unblock, delete') do
  user = ROOT.create_user('rb-new@example.com', 'Long-Enough-71', 'rb-new', name: 'Rb New', skip_confirmation: true)
  equal(ROOT.edit_user(user.id, name: 'Rb Newer').name, 'Rb Newer')
  ROOT.block_user(user.id)
  equal(ROOT.user(user.id).state, 'blocked')
  ROOT.unblock_user(user.id)
  equal(ROOT.user(user.id).state, 'active')
  ROOT.delete_user(user.id)
  fails(NotFound) { ROOT.user(user.id) }
end

check('groups: create, below another, list, search') do
  S.group = ROOT.create_group('Rb Checks', 'rb-checks', visibility: 'private')
  inner = ROOT.create_group('Inner', 'inner', parent_id: S.group.id)
  equal(inner.full_path, 'rb-checks/inner')
  within(S.group.id, ROOT.groups.auto_paginate.map(&:id))
  equal(ROOT.group_search('rb-che').map(&:id), [S.group.id])
  equal(ROOT.group_subgroups(S.group.id).map(&:id), [inner.id])
  equal(ROOT.group('rb-checks/inner').id, inner.id)
end

check('a group path that is taken: 400') { fails(BadRequest, says: 'taken') { ROOT.create_group('Rb', 'rb-checks') } }
check('a private group is not there for others: 404') { fails(NotFound) { JONAS.group(S.group.id) } }
check('groups: change') { equal(ROOT.edit_group(S.group.id, description: 'by ruby').description, 'by ruby') }

check('group members: add, list, change, remove') do
  ROOT.add_group_member(S.group.id, S.jonas.id, 20)
  within(S.jonas.id, ROOT.group_members(S.group.id).map(&:id))
  equal(ROOT.edit_group_member(S.group.id, S.jonas.id, 30).access_level, 30)
  fails(Conflict) { ROOT.add_group_member(S.group.id, S.jonas.id, 20) }
  ROOT.remove_group_member(S.group.id, S.jonas.id)
  fails(NotFound) { ROOT.group_member(S.group.id, S.jonas.id) }
end

# ----------------------------------------------------------------------------------------------------------------------
section 'projects'

check('create and get by path') do
  S.project = ROOT.create_project('Rb Project', path: 'rb-project', namespace_id: S.group.id, initialize_with_readme: true)
  equal(ROOT.project('rb-checks/rb-project').id, S.project.id)
  equal(S.project.default_branch, 'main')
end

P = -> { S.project.id }

check('a path that is taken: 400') do
  fails(BadRequest, says: 'taken') { ROOT.create_project('Rb Project', path: 'rb-project', namespace_id: S.group.id) }
end
check('an unknown project: 404') { fails(NotFound, says: '404 Project Not Found') { ROOT.project('rb-checks/none') } }
check('change') { equal(ROOT.edit_project(P[], description: 'changed').description, 'changed') }

check('offset pages, forwards and back') do
  first = ROOT.projects(per_page: 2, order_by: 'id', sort: 'asc')
  equal(first.size, 2)
  second = first.next_page
  equal(second.prev_page.map(&:id), first.map(&:id))
  equal(first.last_page.last_page?, true)
  equal(first.auto_paginate.map(&:id), ROOT.projects(per_page: 100, order_by: 'id', sort: 'asc').map(&:id))
end

check('keyset pages') do
  ids = ROOT.projects(pagination: 'keyset', per_page: 2, order_by: 'id', sort: 'asc').auto_paginate.map(&:id)
  equal(ids, ROOT.projects(per_page: 100, order_by: 'id', sort: 'asc').map(&:id))
end

check('search, star, archive') do
  equal(ROOT.project_search('rb-project').map(&:id), [P[]])
  equal(ROOT.star_project(P[]).star_count, 1)
  equal(ROOT.post("/projects/#{P[]}/unstar").star_count, 0) # the client's own method uses a route that GitLab removed
  equal(ROOT.archive_project(P[]).archived, true)
  equal(ROOT.unarchive_project(P[]).archived, false)
end

check('members: add, twice 409, change, list') do
  ROOT.add_team_member(P[], S.maria.id, 40)
  ROOT.add_team_member(P[], S.jonas.id, 20)
  fails(Conflict) { ROOT.add_team_member(P[], S.jonas.id, 20) }
  equal(ROOT.edit_team_member(P[], S.jonas.id, 30).access_level, 30)
  equal(ROOT.team_members(P[]).map(&:id).sort & [S.maria.id, S.jonas.id], [S.maria.id, S.jonas.id].sort)
  within(S.me.id, ROOT.all_members(P[]).auto_paginate.map(&:id))
end

check('what a developer may not do: 403') do
  fails(Forbidden) { JONAS.edit_project(P[], description: 'mine') }
  fails(Forbidden) { JONAS.delete_project(P[]) }
end

check('labels: create, list, change, twice 409, delete') do
  equal(ROOT.create_label(P[], 'bug', '#d9534f').name, 'bug')
  fails(Conflict) { ROOT.create_label(P[], 'bug', '#d9534f') }
  equal(ROOT.edit_label(P[], 'bug', color: '#000000').color, '#000000')
  within('bug', ROOT.labels(P[]).map(&:name))
  ROOT.create_label(P[], 'gone', '#ffffff')
  ROOT.delete_label(P[], 'gone')
  fails(NotFound) { ROOT.delete_label(P[], 'gone') }
end

check('milestones: create, change, list, its issues') do
  S.milestone = ROOT.create_milestone(P[], '1.0', due_date: '2027-01-31')
  equal(ROOT.edit_milestone(P[], S.milestone.id, state_event: 'close').state, 'closed')
  equal(ROOT.edit_milestone(P[], S.milestone.id, state_event: 'activate').state, 'active')
  equal(ROOT.milestones(P[]).map(&:title), ['1.0'])
  equal(ROOT.milestone_issues(P[], S.milestone.id).size, 0)
end

# ----------------------------------------------------------------------------------------------------------------------
section 'issues'

check('create, with labels, milestone and assignee') do
  issue = MARIA.create_issue(P[], 'First', labels: 'bug,silent', milestone_id: S.milestone.id, assignee_ids: [S.jonas.id], description: 'a & b = c; ü')
  equal(issue.iid, 1)
  equal(issue.labels.sort, %w[bug silent])
  equal(issue.assignees.first['id'], S.jonas.id)
  equal(ROOT.issue(P[], 1).description, 'a & b = c; ü')
  within('silent', ROOT.labels(P[]).map(&:name))
end

check('without a title: 400') { fails(BadRequest) { ROOT.post("/projects/#{P[]}/issues", body: { description: 'x' }) } }
check('an unknown one: 404') { fails(NotFound) { ROOT.issue(P[], 404) } }

check('many, over pages') do
  (2..23).each { |number| ROOT.create_issue(P[], "Issue #{number}", labels: 'bulk') }
  page = ROOT.issues(P[], per_page: 10, order_by: 'created_at', sort: 'asc')
  equal(page.map(&:iid), (1..10).to_a)
  equal(page.auto_paginate.map(&:iid), (1..23).to_a)
  equal(ROOT.issues(P[], labels: 'bulk', per_page: 100).size, 22)
end

check('close, reopen, change') do
  equal(ROOT.close_issue(P[], 2).state, 'closed')
  equal(ROOT.issues(P[], state: 'closed').map(&:iid), [2])
  equal(ROOT.reopen_issue(P[], 2).state, 'opened')
  equal(ROOT.edit_issue(P[], 2, title: 'Second', add_labels: 'more').labels.sort, %w[bulk more])
end

check('notes: create, change, list, delete') do
  note = MARIA.create_issue_note(P[], 1, 'A comment')
  equal(MARIA.edit_issue_note(P[], 1, note.id, 'A better one').body, 'A better one')
  within('A better one', ROOT.issue_notes(P[], 1).map(&:body))
  fails(Forbidden) { JONAS.edit_issue_note(P[], 1, note.id, 'Mine') }
  MARIA.delete_issue_note(P[], 1, note.id)
  fails(NotFound) { ROOT.issue_note(P[], 1, note.id) }
end

check('links: create, list, twice 409, remove') do
  ROOT.create_issue_link(P[], 1, P[], 2)
  links = ROOT.issue_links(P[], 1)
  equal(links.map(&:iid), [2])
  fails(Conflict) { ROOT.create_issue_link(P[], 1, P[], 2) }
  ROOT.delete_issue_link(P[], 1, links.first.issue_link_id)
  equal(ROOT.issue_links(P[], 1).size, 0)
end

check('time') do
  ROOT.estimate_time_of_issue(P[], 1, '2h')
  ROOT.add_time_spent_on_issue(P[], 1, '30m')
  stats = ROOT.time_stats_for_issue(P[], 1)
  equal([stats.time_estimate, stats.total_time_spent], [7200, 1800])
  ROOT.reset_time_estimate_of_issue(P[], 1)
  ROOT.reset_time_spent_on_issue(P[], 1)
  equal(ROOT.time_stats_for_issue(P[], 1).total_time_spent, 0)
end

check('emoji') do
  emoji = ROOT.create_award_emoji(P[], 1, 'issue', 'thumbsup')
  equal(ROOT.award_emojis(P[], 1, 'issue').map(&:name), ['thumbsup'])
  ROOT.delete_award_emoji(P[], 1, 'issue', emoji.id)
end

check('subscribe; twice is 304') do
  equal(JONAS.subscribe_to_issue(P[], 5).subscribed, true)
  equal(JONAS.unsubscribe_from_issue(P[], 5).subscribed, false)
end

check('participants, label events') do
  within(S.maria.id, ROOT.participants_on_issue(P[], 1).map(&:id))
  within('more', ROOT.issue_label_events(P[], 2).map { |event| event.label&.name })
end

check('delete') do
  issue = ROOT.create_issue(P[], 'Short-lived')
  fails(Forbidden) { JONAS.delete_issue(P[], issue.iid) }
  ROOT.delete_issue(P[], issue.iid)
  fails(NotFound) { ROOT.issue(P[], issue.iid) }
end

# ----------------------------------------------------------------------------------------------------------------------
section 'repository'

check('files: create, get, contents, change') do
  ROOT.create_file(P[], 'src/one.txt', 'main', "one\ntwo\n", 'Add one')
  equal(ROOT.get_file(P[], 'src/one.txt', 'main').encoding, 'base64')
  equal(ROOT.file_contents(P[], 'src/one.txt', 'main'), "one\ntwo\n")
  ROOT.edit_file(P[], 'src/one.txt', 'main', "one\n2\n", 'Change one')
  equal(ROOT.file_contents(P[], 'src/one.txt', 'main'), "one\n2\n")
end

check('a file that is there: 400; one that is not: 404') do
  fails(BadRequest, says: 'already exists') { ROOT.create_file(P[], 'src/one.txt', 'main', 'x', 'x') }
  fails(NotFound) { ROOT.get_file(P[], 'none.txt', 'main') }
end

check('blame') { equal(ROOT.get_file_blame(P[], 'src/one.txt', 'main').flat_map { |part| part.to_h['lines'] }, %w[one 2]) }

check('commit several files, sent as a form') do
  actions = [
    { action: 'create', file_path: 'a.txt', content: "a\n" },
    { action: 'create', file_path: 'b.txt', content: "b\n" },
    { action: 'move', file_path: 'src/1.txt', previous_path: 'src/one.txt' }
  ]
  commit = ROOT.create_commit(P[], 'main', 'Several', actions)
  equal(commit.title, 'Several')
  equal(ROOT.file_contents(P[], 'b.txt', 'main'), "b\n")
  equal(ROOT.file_contents(P[], 'src/1.txt', 'main'), "one\n2\n")
end

check('commits: list, get, diff, refs, comment, status') do
  commits = ROOT.commits(P[], ref_name: 'main')
  equal(commits.first.title, 'Several')
  sha = commits.first.id
  equal(ROOT.commit(P[], sha).parent_ids, [commits[1].id])
  within('a.txt', ROOT.commit_diff(P[], sha).map(&:new_path))
  within('main', ROOT.commit_refs(P[], sha).map(&:name))
  ROOT.create_commit_comment(P[], sha, 'Nice')
  equal(ROOT.commit_comments(P[], sha).map(&:note), ['Nice'])
  ROOT.update_commit_status(P[], sha, 'success', name: 'outside')
  within('outside', ROOT.commit_status(P[], sha).map(&:name))
end

check('an unknown commit: 404') { fails(NotFound) { ROOT.commit(P[], '0' * 40) } }

check('tree, over keyset pages') do
  actions = (0...25).map { |number| { action: 'create', file_path: format('many/%02d.txt', number), content: 'x' } }
  ROOT.create_commit(P[], 'many', 'Many', actions, start_branch: 'main')
  rows = ROOT.tree(P[], path: 'many', ref: 'many', pagination: 'keyset', per_page: 10).auto_paginate
  equal(rows.map(&:name), (0...25).map { |number| format('%02d.txt', number) })
  equal(ROOT.tree(P[], ref: 'main').map(&:name), %w[src README.md a.txt b.txt])
end

check('compare, merge base, contributors, archive') do
  equal(ROOT.compare(P[], 'main', 'many').commits.map { |row| row['title'] }, ['Many'])
  equal(ROOT.merge_base(P[], %w[main many]).id, ROOT.commit(P[], 'main').id)
  within(S.me.email, ROOT.contributors(P[]).map(&:email))
  assert_gzip = ROOT.repo_archive(P[], 'main').to_hash[:data].read[0, 2].bytes
  equal(assert_gzip, [0x1f, 0x8b])
end

check('branches: create, list, get, twice 400, delete') do
  ROOT.create_branch(P[], 'feature/a', 'main')
  within('feature/a', ROOT.branches(P[]).map(&:name))
  equal(ROOT.branch(P[], 'feature/a').protected, false)
  fails(BadRequest, says: 'Branch already exists') { ROOT.create_branch(P[], 'feature/a', 'main') }
  ROOT.delete_branch(P[], 'feature/a')
  fails(NotFound) { ROOT.branch(P[], 'feature/a') }
end

check('protect, twice 409, push refused, unprotect') do
  ROOT.create_branch(P[], 'stable', 'main')
  equal(ROOT.protect_branch(P[], 'stable').name, 'stable')
  equal(ROOT.protected_branch(P[], 'stable').name, 'stable')
  fails(Conflict) { ROOT.protect_branch(P[], 'stable') }
  fails(Forbidden, BadRequest, says: 'not allowed to push') { JONAS.create_file(P[], 'x.txt', 'stable', 'x', 'x') }
  ROOT.unprotect_branch(P[], 'stable')
  JONAS.create_file(P[], 'x.txt', 'stable', 'x', 'x')
  equal(ROOT.file_contents(P[], 'x.txt', 'stable'), 'x')
end

check('tags: create, list, get, twice 400, delete') do
  ROOT.create_tag(P[], 'v0.1', 'main', 'First')
  equal(ROOT.tag(P[], 'v0.1').message, 'First')
  equal(ROOT.tags(P[]).map(&:name), ['v0.1'])
  fails(BadRequest, says: 'already exists') { ROOT.create_tag(P[], 'v0.1', 'main') }
  ROOT.create_tag(P[], 'gone', 'main')
  ROOT.delete_tag(P[], 'gone')
  fails(NotFound) { ROOT.tag(P[], 'gone') }
end

check('releases: create, list, get, change, twice 409, delete') do
  ROOT.create_project_release(P[], tag_name: 'v0.1', name: 'First', description: 'Notes')
  equal(ROOT.project_releases(P[]).map(&:tag_name), ['v0.1'])
  equal(ROOT.update_project_release(P[], 'v0.1', description: 'Better').description, 'Better')
  fails(Conflict) { ROOT.create_project_release(P[], tag_name: 'v0.1', description: 'Again') }
  ROOT.delete_project_release(P[], 'v0.1')
  fails(NotFound) { ROOT.project_release(P[], 'v0.1') }
end

# ----------------------------------------------------------------------------------------------------------------------
section 'merge requests'

def topic(name, path)
  ROOT.create_commit(P[], name, "Add #{path}", [{ action: 'create', file_path: path, content: "1\n2\n3\n" }], start_branch: 'main')
end

check('create, twice 409, into itself 422') do
  topic('topic', 'topic.txt')
  S.mr = MARIA.create_merge_request(P[], 'Topic', source_branch: 'topic', target_branch: 'main', description: 'Closes #3', reviewer_ids: [S.jonas.id])
  equal([S.mr.iid, S.mr.state], [1, 'opened'])
  fails(Conflict, says: 'already exists') { MARIA.create_merge_request(P[], 'Topic', source_branch: 'topic', target_branch: 'main') }
  fails(Unprocessable) { MARIA.create_merge_request(P[], 'Loop', source_branch: 'main', target_branch: 'main') }
  fails(BadRequest) { MARIA.create_merge_request(P[], 'None', source_branch: 'nowhere', target_branch: 'main') }
end

check('list, get, changes, commits, versions') do
  equal(ROOT.merge_requests(P[], state: 'opened').map(&:iid), [1])
  within(S.mr.id, MARIA.user_merge_requests(scope: 'created_by_me', per_page: 100).map(&:id))
  equal(ROOT.merge_request_changes(P[], 1).changes.map { |row| row['new_path'] }, ['topic.txt'])
  equal(ROOT.merge_request_commits(P[], 1).map(&:title), ['Add topic.txt'])
  equal(ROOT.merge_request_diff_versions(P[], 1).first.head_commit_sha, S.mr.sha)
  equal(ROOT.merge_request_closes_issues(P[], 1).map(&:iid), [3])
end

check('approve, approvals, unapprove') do
  JONAS.approve_merge_request(P[], 1)
  equal(ROOT.merge_request_approvals(P[], 1).approved_by.map { |row| row['user']['id'] }, [S.jonas.id])
  JONAS.unapprove_merge_request(P[], 1)
  equal(ROOT.merge_request_approvals(P[], 1).approved_by, [])
end

check('notes') do
  note = JONAS.create_merge_request_note(P[], 1, 'Hm')
  within(note.id, ROOT.merge_request_notes(P[], 1).map(&:id))
  equal(JONAS.edit_merge_request_note(P[], 1, note.id, 'Fine').body, 'Fine')
  JONAS.delete_merge_request_note(P[], 1, note.id)
end

check('a discussion on a line, sent as a form; answered; resolved') do
  refs = ROOT.merge_request(P[], 1).diff_refs
  position = {
    base_sha: refs.base_sha, start_sha: refs.start_sha, head_sha: refs.head_sha,
    position_type: 'text', old_path: 'topic.txt', new_path: 'topic.txt', new_line: 2
  }
  discussion = JONAS.create_merge_request_discussion(P[], 1, body: 'Why?', position: position)
  equal(discussion.notes.first['position']['new_line'], 2)
  JONAS.create_merge_request_discussion_note(P[], 1, discussion.id, body: 'Because')
  ROOT.resolve_merge_request_discussion(P[], 1, discussion.id, resolved: true)
  equal(ROOT.merge_request_discussion(P[], 1, discussion.id).notes.map { |note| [note['body'], note['resolved']] }, [['Why?', true], ['Because', true]])
end

check('participants, subscribe') do
  within(S.jonas.id, ROOT.merge_request_participants(P[], 1).map(&:id))
  ROOT.subscribe_to_merge_request(P[], 1)
  equal(ROOT.merge_request(P[], 1).subscribed, true)
end

check('a wrong sha: 409; not allowed: 401') do
  fails(Conflict) { ROOT.accept_merge_request(P[], 1, sha: 'f' * 40) }
  fails(Unauthorized) { JONAS.accept_merge_request(P[], 1) }
  equal(ROOT.merge_request(P[], 1).state, 'opened')
end

check('a draft, a closed one: 405') do
  topic('draft', 'draft.txt')
  mr = ROOT.create_merge_request(P[], 'Draft: later', source_branch: 'draft', target_branch: 'main')
  fails(NotAllowed) { ROOT.accept_merge_request(P[], mr.iid) }
  equal(ROOT.update_merge_request(P[], mr.iid, state_event: 'close').state, 'closed')
  fails(NotAllowed) { ROOT.accept_merge_request(P[], mr.iid) }
end

check('merge: merged, the file is there, the issue closed') do
  equal(MARIA.accept_merge_request(P[], 1, should_remove_source_branch: true).state, 'merged')
  equal(ROOT.file_contents(P[], 'topic.txt', 'main'), "1\n2\n3\n")
  fails(NotFound) { ROOT.branch(P[], 'topic') }
  equal(ROOT.issue(P[], 3).state, 'closed')
  fails(NotAllowed) { ROOT.accept_merge_request(P[], 1) }
end

check('an unknown one: 404') { fails(NotFound) { ROOT.merge_request(P[], 4040) } }

# ----------------------------------------------------------------------------------------------------------------------
section 'pipelines'

check('a commit with a CI file starts one, with its jobs') do
  ROOT.create_file(P[], '.gitlab-ci.yml', 'main', CI_FILE, 'Add CI')
  S.pipeline = ROOT.pipelines(P[]).first
  equal(S.pipeline.sha, ROOT.commit(P[], 'main').id)
  equal(ROOT.pipeline_jobs(P[], S.pipeline.id).map(&:name).sort, %w[compile unit])
end

check('create with variables; from nowhere 400; cancel, retry, delete') do
  pipeline = ROOT.create_pipeline(P[], 'main', { 'A' => 'b' })
  equal(pipeline.ref, 'main')
  within(ROOT.cancel_pipeline(P[], pipeline.id).status, %w[canceled canceling])
  within(ROOT.retry_pipeline(P[], pipeline.id).status, %w[pending running created success])
  ROOT.delete_pipeline(P[], pipeline.id)
  fails(NotFound) { ROOT.pipeline(P[], pipeline.id) }
  fails(BadRequest) { ROOT.create_pipeline(P[], 'nowhere') }
end

check('a failed job of the seeds: log, retry, not twice') do
  S.seeded = ROOT.projects(per_page: 100).auto_paginate.find do |project|
    S.broken_job = ROOT.jobs(project.id, scope: ['failed'], per_page: 50).find { |job| !job.allow_failure }
  rescue Gitlab::Error::ResponseError
    false
  end
  within('ERROR: Job failed', ROOT.job_trace(S.seeded.id, S.broken_job.id))
  again = ROOT.job_retry(S.seeded.id, S.broken_job.id)
  equal(again.name, S.broken_job.name)
  fails(Forbidden) { ROOT.job_retry(S.seeded.id, S.broken_job.id) }
end

check('one job; an unknown one: 404') do
  job = ROOT.pipeline_jobs(P[], S.pipeline.id).first
  equal(ROOT.job(P[], job.id).pipeline.id, S.pipeline.id)
  fails(NotFound) { ROOT.job(P[], 99_999_999) }
end

check('schedules: create, change, variables, owner, delete') do
  S.schedule = MARIA.create_pipeline_schedule(P[], description: 'Nightly', ref: 'main', cron: '0 4 * * *')
  equal(MARIA.edit_pipeline_schedule(P[], S.schedule.id, active: false).active, false)
  MARIA.create_pipeline_schedule_variable(P[], S.schedule.id, key: 'MODE', value: 'deep')
  fails(Forbidden) { JONAS.edit_pipeline_schedule(P[], S.schedule.id, active: true) }
  equal(ROOT.pipeline_schedule_take_ownership(P[], S.schedule.id).owner.id, S.me.id)
  within(S.schedule.id, ROOT.pipeline_schedules(P[]).map(&:id))
  ROOT.delete_pipeline_schedule(P[], S.schedule.id)
  fails(NotFound) { ROOT.pipeline_schedule(P[], S.schedule.id) }
end

check('triggers') do
  trigger = ROOT.create_trigger(P[], 'outside')
  equal(ROOT.run_trigger(P[], trigger.token, 'main', { 'A' => 'b' }).ref, 'main')
  ROOT.remove_trigger(P[], trigger.id)
end

# ----------------------------------------------------------------------------------------------------------------------
section 'search, to-dos, tokens'

check('search everywhere, in a group, in a project') do
  within(P[], ROOT.search_globally('projects', 'rb-project').map(&:id))
  within(1, ROOT.search_in_group(S.group.id, 'issues', 'First').map(&:iid))
  within('src/1.txt', ROOT.search_in_project(P[], 'blobs', 'one').map(&:path))
  fails(BadRequest) { ROOT.search_globally('everything', 'x') }
end

check('to-dos: by a mention, done') do
  ROOT.create_issue_note(P[], 4, "@#{S.jonas.username} please look")
  todo = JONAS.todos.find { |row| row.target.iid == 4 && row.project.id == P[] }
  equal(JONAS.mark_todo_as_done(todo.id).state, 'done')
  JONAS.mark_all_todos_as_done
  equal(JONAS.todos.size, 0)
end

check('project access tokens: create, use, rotate, revoke') do
  made = ROOT.post("/projects/#{P[]}/access_tokens", body: { name: 'robot', scopes: %w[api], access_level: 30, expires_at: '2026-12-24' })
  equal(client(made.token).project(P[]).id, P[])
  rotated = ROOT.post("/projects/#{P[]}/access_tokens/#{made.id}/rotate", body: { expires_at: '2026-12-31' })
  fails(Unauthorized) { client(made.token).project(P[]) }
  equal(client(rotated.token).project(P[]).id, P[])
  ROOT.delete("/projects/#{P[]}/access_tokens/#{rotated.id}")
  fails(Unauthorized) { client(rotated.token).project(P[]) }
end

check('events, namespaces') do
  within('rb-checks', ROOT.namespaces(search: 'rb-checks').map(&:path))
  equal(ROOT.project_events(P[]).size.positive?, true)
end

check('a project is deleted') do
  ROOT.delete_project(P[])
  begin
    raise 'neither gone nor marked' unless ROOT.project(P[]).to_h['marked_for_deletion_on']
  rescue NotFound
    nil
  end
end

exit($failed.zero? ? 0 : 1)
