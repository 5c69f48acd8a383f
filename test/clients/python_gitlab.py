"""Drives the sandbox with python-gitlab, a client that knows nothing of this project.

Reads SANDBOX_URL and SANDBOX_TOKEN_<USER> from the environment, prints one line per check
(`ok …`, `not ok …`, `skip …`) and exits 1 when one of them failed.
"""

import base64
import os
import sys
import warnings
from types import SimpleNamespace

import gitlab
from gitlab.const import AccessLevel
from gitlab.exceptions import GitlabAuthenticationError, GitlabError

warnings.filterwarnings("ignore")

URL = os.environ["SANDBOX_URL"]


def client(name, **options):
    return gitlab.Gitlab(URL, private_token=os.environ[f"SANDBOX_TOKEN_{name.upper()}"], timeout=20, **options)


root, maria, jonas = client("root"), client("maria"), client("jonas")
anonymous = gitlab.Gitlab(URL, timeout=20)
s = SimpleNamespace()
failed = 0
section = ""


class Skip(Exception):
    """The sandbox does not serve this; said, not hidden."""


def check(name):
    """Runs the function at once, in file order: later checks build on earlier ones."""

    def run(body):
        global failed
        title = f"{section}: {name}"
        try:
            body()
            print(f"ok {title}")
        except Skip as skip:
            print(f"skip {title} ({skip})")
        except Exception as error:  # every kind of failure is a finding
            failed += 1
            where = error.__traceback__
            while where.tb_next and where.tb_next.tb_frame.f_code.co_filename == __file__:
                where = where.tb_next
            print(f"not ok {title}: {type(error).__name__}: {str(error)[:300]} (line {where.tb_lineno})")
        sys.stdout.flush()

    return run


def group_of_checks(name):
    global section
    section = name


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def within(part, whole):
    assert part in whole, f"{part!r} is not in {whole!r}"


def fails(code, call, *args, says=None, **named):
    """The call must fail with this status (or one of these), and say so in GitLab's way."""
    codes = code if isinstance(code, tuple) else (code,)
    try:
        call(*args, **named)
    except GitlabError as error:
        assert error.response_code in codes, f"got {error.response_code} ({error.error_message}), wanted {code}"
        if says:
            within(says.lower(), str(error.error_message).lower())
        return error
    raise AssertionError(f"nothing failed, wanted {code}")


def post(path, data=None, who=None):
    """Straight to the wire: the client itself refuses to send what lacks a required attribute."""
    return (who or root).http_post(path, post_data=data or {})


def served(path):
    try:
        root.http_get(path)
    except GitlabError as error:
        if error.response_code in (404, 405):
            raise Skip(f"{path} is not served") from error
        raise


CI_FILE = """stages: [build, test]
compile:
  stage: build
  script: [make]
unit:
  stage: test
  script: [make test]
"""

# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("sign-in")


@check("a token says who is asking")
def _():
    for gl in (root, maria, jonas):
        gl.auth()
    s.root, s.maria, s.jonas = root.user, maria.user, jonas.user
    assert len({s.root.id, s.maria.id, s.jonas.id}) == 3
    assert s.root.is_admin


@check("a bearer token says the same")
def _():
    bearer = gitlab.Gitlab(URL, oauth_token=os.environ["SANDBOX_TOKEN_MARIA"])
    bearer.auth()
    equal(bearer.user.id, s.maria.id)


@check("no token: 401")
def _():
    try:
        anonymous.auth()
    except GitlabAuthenticationError as error:
        equal(error.response_code, 401)
    else:
        raise AssertionError("an anonymous /user was answered")


@check("a wrong token: 401")
def _():
    fails(401, gitlab.Gitlab(URL, private_token="glpat-wrong").auth, says="401 Unauthorized")


@check("an expired token: 401")
def _():
    fails(401, client("expired").auth)


@check("a token that only reads may not write: 403")
def _():
    reader = client("reader")
    reader.auth()
    error = fails(403, reader.projects.create, {"name": "no"})
    within("insufficient_scope", error.response_body.decode())


@check("version")
def _():
    version, revision = root.version()
    assert version[0].isdigit(), version
    assert revision


@check("the token itself")
def _():
    token = root.http_get("/personal_access_tokens/self")
    within("api", token["scopes"])
    equal(token["active"], True)


@check("markdown is rendered")
def _():
    within("<strong>", root.markdown("**bold**"))


@check("a burst is turned away with Retry-After, and the client waits")
def _():
    assert root.http_get("/metadata")["version"]


@check("a lost moment (503) is tried again")
def _():
    patient = client("root", retry_transient_errors=True)
    equal(patient.http_list("/user/emails", get_all=True)[0]["id"], s.root.id)


@check("headers: request id, rate limit, ETag; what is known is not sent again")
def _():
    answer = root.http_request("get", "/version", raw=True)
    for name in ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "ETag"):
        assert answer.headers.get(name), name
    again = root.session.get(
        f"{URL}/api/v4/version", headers={"PRIVATE-TOKEN": root.private_token, "If-None-Match": answer.headers["ETag"]}, timeout=20
    )
    equal((again.status_code, again.content), (304, b""))


@check("an administrator acts for somebody; others may not")
def _():
    equal(root.http_get("/user", sudo=s.maria.username)["id"], s.maria.id)
    fails(403, maria.http_get, "/user", sudo=s.jonas.username)
    fails(404, root.http_get, "/user", sudo="nobody-at-all")


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("users")


@check("list and find by name")
def _():
    users = root.users.list(get_all=True)
    assert len(users) >= 3
    equal([user.id for user in root.users.list(username=s.maria.username)], [s.maria.id])


@check("search")
def _():
    within(s.jonas.id, [user.id for user in root.users.list(search=s.jonas.username[:4])])


@check("get one")
def _():
    equal(root.users.get(s.maria.id).username, s.maria.username)


@check("create, as administrator")
def _():
    s.newcomer = root.users.create(
        {"email": "py-new@example.com", "username": "py-new", "name": "Py New", "password": "Long-Enough-71", "skip_confirmation": True}
    )
    equal(s.newcomer.state, "active")


@check("the same name again: 409")
def _():
    fails(
        409,
        root.users.create,
        {"email": "py-other@example.com", "username": "py-new", "name": "X", "password": "Long-Enough-71"},
        says="taken",
    )


@check("create, as anybody else: 403")
def _():
    fails(403, maria.users.create, {"email": "x@example.com", "username": "py-x", "name": "X", "password": "Long-Enough-71"})


@check("change")
def _():
    s.newcomer.name = "Py Newer"
    s.newcomer.save()
    equal(root.users.get(s.newcomer.id).name, "Py Newer")


@check("block and unblock")
def _():
    s.newcomer.block()
    equal(root.users.get(s.newcomer.id).state, "blocked")
    s.newcomer.unblock()
    equal(root.users.get(s.newcomer.id).state, "active")


@check("keyset pages")
def _():
    pages = root.users.list(iterator=True, pagination="keyset", order_by="id", sort="asc", per_page=2)
    ids = [user.id for user in pages]
    equal(ids, sorted(set(ids)))
    equal(len(ids), len(root.users.list(get_all=True)))


@check("unknown: 404")
def _():
    fails(404, root.users.get, 9999999, says="404 User Not Found")


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("groups")


@check("create")
def _():
    s.group = root.groups.create({"name": "Py Checks", "path": "py-checks", "visibility": "private"})
    equal(s.group.full_path, "py-checks")


@check("create below another")
def _():
    s.subgroup = root.groups.create({"name": "Inner", "path": "inner", "parent_id": s.group.id})
    equal(s.subgroup.full_path, "py-checks/inner")
    equal(s.subgroup.parent_id, s.group.id)


@check("the same path again: 400")
def _():
    fails(400, root.groups.create, {"name": "Py Checks", "path": "py-checks"}, says="taken")


@check("without a path: 400")
def _():
    fails(400, post, "/groups", {"name": "Pathless"}, says="path is missing")


@check("get by path and by id")
def _():
    equal(root.groups.get("py-checks/inner").id, s.subgroup.id)
    equal(root.groups.get(s.group.id).name, "Py Checks")


@check("list, search and subgroups")
def _():
    within(s.group.id, [group.id for group in root.groups.list(get_all=True)])
    within(s.group.id, [group.id for group in root.groups.list(search="py-che")])
    equal([group.id for group in s.group.subgroups.list()], [s.subgroup.id])
    equal([group.id for group in s.group.descendant_groups.list()], [s.subgroup.id])


@check("change")
def _():
    s.group.description = "made by python-gitlab"
    s.group.save()
    equal(root.groups.get(s.group.id).description, "made by python-gitlab")


@check("a private one is not there for others: 404")
def _():
    fails(404, jonas.groups.get, s.group.id, says="404 Group Not Found")


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("projects")


@check("create, with a first commit")
def _():
    s.project = root.projects.create({"name": "Py Project", "path": "py-project", "namespace_id": s.group.id, "initialize_with_readme": True})
    equal(s.project.path_with_namespace, "py-checks/py-project")
    equal(s.project.default_branch, "main")


@check("create, empty")
def _():
    s.empty = root.projects.create({"name": "Py Empty", "namespace_id": s.group.id})
    equal(s.empty.path, "py-empty")
    equal(s.empty.empty_repo, True)


@check("the same path again: 400")
def _():
    fails(400, root.projects.create, {"name": "Py Project", "path": "py-project", "namespace_id": s.group.id}, says="has already been taken")


@check("without a name: 400")
def _():
    fails(400, post, "/projects", {"namespace_id": s.group.id}, says="name, path are missing, at least one parameter must be provided")


@check("get by path and by id")
def _():
    equal(root.projects.get("py-checks/py-project").id, s.project.id)
    equal(root.projects.get(s.project.id).name, "Py Project")


@check("unknown: 404")
def _():
    fails(404, root.projects.get, "py-checks/nothing", says="404 Project Not Found")


@check("a private one is not there for others: 404")
def _():
    fails(404, jonas.projects.get, s.project.id, says="404 Project Not Found")


@check("a private one is not there for nobody: 404")
def _():
    fails(404, anonymous.projects.get, s.project.id)


@check("change")
def _():
    s.project.description = "checked"
    s.project.topics = ["one", "two"]
    s.project.save()
    again = root.projects.get(s.project.id)
    equal(again.description, "checked")
    equal(sorted(again.topics), ["one", "two"])


@check("list of a group")
def _():
    equal(sorted(project.path for project in s.group.projects.list()), ["py-empty", "py-project"])


@check("list by search and by owner")
def _():
    within(s.project.id, [project.id for project in root.projects.list(search="py-proj")])
    within(s.project.id, [project.id for project in root.projects.list(membership=True, get_all=True)])


@check("offset pages")
def _():
    everything = root.projects.list(iterator=True, per_page=2, order_by="id", sort="asc")
    ids = [project.id for project in everything]
    equal(ids, sorted(set(ids)))
    equal(everything.total, len(ids))
    equal(everything.per_page, 2)
    second = root.projects.list(page=2, per_page=2, order_by="id", sort="asc")
    equal([project.id for project in second], ids[2:4])


@check("keyset pages")
def _():
    pages = root.projects.list(iterator=True, pagination="keyset", order_by="id", sort="asc", per_page=2)
    ids = [project.id for project in pages]
    equal(pages.total, None)
    equal(ids, [project.id for project in root.projects.list(get_all=True, order_by="id", sort="asc")])


@check("every project that is not empty has its default branch")
def _():
    for project in root.projects.list(iterator=True):
        full = root.projects.get(project.id)
        if full.empty_repo:
            equal(full.default_branch, None)
        else:
            equal(full.branches.get(full.default_branch).default, True)


@check("past the last page: nothing")
def _():
    equal(root.projects.list(page=5000, per_page=10), [])


@check("totals by HEAD")
def _():
    headers = root.http_head("/projects", per_page=1)
    assert int(headers["X-Total"]) >= 2, headers


@check("star and unstar")
def _():
    s.project.star()
    equal(root.projects.get(s.project.id).star_count, 1)
    s.project.unstar()
    equal(root.projects.get(s.project.id).star_count, 0)


@check("archive: writes are refused, and come back")
def _():
    s.empty.archive()
    equal(root.projects.get(s.empty.id).archived, True)
    fails(403, s.empty.issues.create, {"title": "no"})
    s.empty.unarchive()
    equal(root.projects.get(s.empty.id).archived, False)


@check("share with a group, and take it back")
def _():
    other = root.groups.create({"name": "Py Guests", "path": "py-guests"})
    s.project.share(other.id, 30)
    within(other.id, [row["group_id"] for row in root.projects.get(s.project.id).shared_with_groups])
    fails((400, 409), s.project.share, other.id, 30)
    other.members.create({"user_id": s.maria.id, "access_level": 40})
    equal(maria.projects.get(s.project.id).id, s.project.id)
    s.project.unshare(other.id)
    equal(root.projects.get(s.project.id).shared_with_groups, [])
    fails(404, maria.projects.get, s.project.id)
    s.guests = other


@check("transfer, and back")
def _():
    s.empty.transfer("py-guests")
    equal(root.projects.get(s.empty.id).path_with_namespace, "py-guests/py-empty")
    root.projects.get(s.empty.id).transfer("py-checks")
    equal(root.projects.get("py-checks/py-empty").id, s.empty.id)


@check("badges")
def _():
    badge = s.project.badges.create({"link_url": "https://example.com/%{project_path}", "image_url": "https://example.com/badge.svg"})
    within(badge.id, [row.id for row in s.project.badges.list()])
    badge.delete()


@check("an upload, in a form with a file")
def _():
    answer = s.project.upload("note.txt", filedata="hello")
    equal(answer["alt"], "note.txt")
    within("/uploads/", answer["url"])


@check("boards")
def _():
    board = s.project.boards.create({"name": "Work"})
    within("Work", [row.name for row in s.project.boards.list()])
    label = s.project.labels.create({"name": "doing", "color": "#00ff00"})
    board.lists.create({"label_id": label.id})
    equal([row.label["name"] for row in board.lists.list()], ["doing"])
    board.delete()


@check("languages and statistics")
def _():
    assert isinstance(s.project.languages(), dict)


@check("namespaces")
def _():
    within("py-checks", [namespace.full_path for namespace in root.namespaces.list(search="py-checks")])


@check("events")
def _():
    assert isinstance(s.project.events.list(), list)


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("members and roles")


@check("add")
def _():
    member = s.project.members.create({"user_id": s.maria.id, "access_level": AccessLevel.MAINTAINER.value})
    equal(member.access_level, 40)
    s.project.members.create({"user_id": s.jonas.id, "access_level": AccessLevel.REPORTER.value})


@check("add again: 409")
def _():
    fails(409, s.project.members.create, {"user_id": s.jonas.id, "access_level": 20}, says="Member already exists")


@check("a level that there is not: 400")
def _():
    fails(400, s.project.members.create, {"user_id": s.newcomer.id, "access_level": 33}, says="access_level")


@check("list, own and inherited")
def _():
    own = {member.id for member in s.project.members.list()}
    equal(own >= {s.maria.id, s.jonas.id}, True)
    within(s.root.id, [member.id for member in s.project.members_all.list(get_all=True)])


@check("one sees now what was hidden")
def _():
    s.as_maria = maria.projects.get(s.project.id)
    s.as_jonas = jonas.projects.get(s.project.id)
    equal(s.as_maria.permissions["project_access"]["access_level"], 40)


@check("a reporter may not change the project: 403")
def _():
    s.as_jonas.description = "mine"
    fails(403, s.as_jonas.save)


@check("a reporter may not delete it: 403")
def _():
    fails(403, s.as_jonas.delete)


@check("a reporter may not add members: 403")
def _():
    fails((401, 403), s.as_jonas.members.create, {"user_id": s.newcomer.id, "access_level": 30})


@check("change of role")
def _():
    member = s.project.members.get(s.jonas.id)
    member.access_level = 30
    member.save()
    equal(s.project.members.get(s.jonas.id).access_level, 30)


@check("not a member: 404")
def _():
    fails(404, s.project.members.get, s.newcomer.id)


@check("members of a group reach its projects")
def _():
    s.group.members.create({"user_id": s.newcomer.id, "access_level": 20})
    within(s.newcomer.id, [member.id for member in s.project.members_all.list(get_all=True)])
    s.group.members.delete(s.newcomer.id)
    assert s.newcomer.id not in [member.id for member in s.project.members_all.list(get_all=True)]


@check("access requests: asked, listed, refused; asked again, approved")
def _():
    open_project = root.projects.create({"name": "Py Open", "visibility": "public"})
    jonas.projects.get(open_project.id).accessrequests.create({})
    equal([row.id for row in open_project.accessrequests.list()], [s.jonas.id])
    open_project.accessrequests.delete(s.jonas.id)
    jonas.projects.get(open_project.id).accessrequests.create({})
    open_project.accessrequests.list()[0].approve(access_level=20)
    equal(open_project.members.get(s.jonas.id).access_level, 20)
    open_project.delete()


@check("invitations by address")
def _():
    s.project.invitations.create({"email": "guest@example.com", "access_level": 20})
    equal([row.invite_email for row in s.project.invitations.list()], ["guest@example.com"])
    s.project.invitations.delete("guest@example.com")
    equal(s.project.invitations.list(), [])


@check("users of a project")
def _():
    within(s.maria.username, [user.username for user in s.project.users.list()])


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("labels")


@check("create")
def _():
    label = s.project.labels.create({"name": "bug", "color": "#d9534f", "description": "something is wrong"})
    equal((label.name, label.color), ("bug", "#d9534f"))
    s.project.labels.create({"name": "needs: work", "color": "#5cb85c"})


@check("the same name again: 409")
def _():
    fails(409, s.project.labels.create, {"name": "bug", "color": "#d9534f"}, says="Label already exists")


@check("without a colour: 400")
def _():
    fails(400, post, f"/projects/{s.project.id}/labels", {"name": "pale"}, says="color is missing")


@check("list, get by name, search")
def _():
    equal({label.name for label in s.project.labels.list()} >= {"bug", "needs: work"}, True)
    equal(s.project.labels.get("bug").description, "something is wrong")
    equal([label.name for label in s.project.labels.list(search="needs")], ["needs: work"])


@check("change and rename")
def _():
    label = s.project.labels.get("needs: work")
    label.new_name = "needs work"
    label.color = "#123456"
    label.save()
    equal(s.project.labels.get("needs work").color, "#123456")


@check("delete, then 404")
def _():
    s.project.labels.delete("needs work")
    fails(404, s.project.labels.get, "needs work")


@check("subscribe to a label")
def _():
    label = s.project.labels.get("bug")
    label.subscribe()
    equal(s.project.labels.get("bug").subscribed, True)
    label.unsubscribe()
    equal(s.project.labels.get("bug").subscribed, False)


@check("a label becomes the group's")
def _():
    s.project.labels.create({"name": "raised", "color": "#aabbcc"}).promote()
    within("raised", [label.name for label in s.group.labels.list()])


@check("labels of a group reach its projects")
def _():
    s.group.labels.create({"name": "group wide", "color": "#0033cc"})
    within("group wide", [label.name for label in s.group.labels.list()])
    within("group wide", [label.name for label in s.project.labels.list()])


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("milestones")


@check("create, list and get")
def _():
    s.milestone = s.project.milestones.create({"title": "1.0", "due_date": "2027-01-31"})
    equal(s.milestone.state, "active")
    equal([milestone.title for milestone in s.project.milestones.list()], ["1.0"])
    equal(s.project.milestones.get(s.milestone.id).due_date, "2027-01-31")


@check("the same title again: 400")
def _():
    fails(400, s.project.milestones.create, {"title": "1.0"})


@check("close and list by state")
def _():
    s.milestone.state_event = "close"
    s.milestone.save()
    equal(s.project.milestones.list(state="active"), [])
    s.milestone.state_event = "activate"
    s.milestone.save()
    equal(s.project.milestones.get(s.milestone.id).state, "active")


@check("of a group")
def _():
    milestone = s.group.milestones.create({"title": "group 1.0"})
    within(milestone.id, [row.id for row in s.group.milestones.list()])


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("issues")


@check("create, numbered per project")
def _():
    s.issue = s.as_maria.issues.create(
        {
            "title": "First",
            "description": "It **fails**.",
            "labels": "bug,made silently",
            "assignee_ids": [s.jonas.id],
            "milestone_id": s.milestone.id,
            "due_date": "2027-01-01",
        }
    )
    equal(s.issue.iid, 1)
    equal(sorted(s.issue.labels), ["bug", "made silently"])
    equal(s.issue.assignees[0]["id"], s.jonas.id)
    equal(s.issue.milestone["title"], "1.0")
    equal(s.issue.author["id"], s.maria.id)


@check("a label that was not there was made")
def _():
    within("made silently", [label.name for label in s.project.labels.list()])


@check("without a title: 400")
def _():
    fails(400, post, f"/projects/{s.project.id}/issues", {"description": "x"}, says="title is missing")


@check("a blank title: 400")
def _():
    fails(400, s.project.issues.create, {"title": ""})


@check("many, over offset pages")
def _():
    for number in range(2, 26):
        s.project.issues.create({"title": f"Issue {number}", "labels": ["bulk"]})
    pages = s.project.issues.list(iterator=True, per_page=10, order_by="created_at", sort="asc")
    equal([issue.iid for issue in pages], list(range(1, 26)))
    equal(pages.total, 25)
    equal(pages.total_pages, 3)


@check("many, over keyset pages")
def _():
    pages = s.project.issues.list(iterator=True, pagination="keyset", order_by="created_at", sort="asc", per_page=10)
    equal([issue.iid for issue in pages], list(range(1, 26)))


@check("get, and 404 for an unknown one")
def _():
    equal(s.project.issues.get(1).title, "First")
    fails(404, s.project.issues.get, 404, says="404")


@check("list by label, state, assignee, search, milestone, iids")
def _():
    equal(len(s.project.issues.list(labels=["bulk"], get_all=True)), 24)
    equal([issue.iid for issue in s.project.issues.list(labels=["bug"])], [1])
    equal([issue.iid for issue in s.project.issues.list(assignee_id=s.jonas.id)], [1])
    equal([issue.iid for issue in s.project.issues.list(search="First")], [1])
    equal([issue.iid for issue in s.project.issues.list(milestone="1.0")], [1])
    equal(sorted(issue.iid for issue in s.project.issues.list(iids=[3, 4])), [3, 4])


@check("a state that there is not: 400")
def _():
    fails(400, s.project.issues.list, state="open", says="state does not have a valid value")


@check("change, close and reopen")
def _():
    issue = s.project.issues.get(2)
    issue.title = "Second"
    issue.labels = ["bulk", "bug"]
    issue.state_event = "close"
    issue.save()
    issue = s.project.issues.get(2)
    equal((issue.title, issue.state), ("Second", "closed"))
    assert issue.closed_at and issue.attributes["closed_by"]["id"] == s.root.id
    issue.state_event = "reopen"
    issue.save()
    equal(s.project.issues.get(2).state, "opened")


@check("add and remove labels")
def _():
    issue = s.project.issues.update(2, {"add_labels": "extra", "remove_labels": "bug"})
    equal(sorted(issue["labels"]), ["bulk", "extra"])


@check("across projects and in a group")
def _():
    within(s.issue.id, [issue.id for issue in jonas.issues.list(scope="assigned_to_me", get_all=True)])
    equal(len(s.group.issues.list(get_all=True)), 25)


@check("notes: create, list, change, delete")
def _():
    note = s.as_maria.issues.get(1).notes.create({"body": "A comment"})
    equal(note.author["id"], s.maria.id)
    within("A comment", [row.body for row in s.issue.notes.list()])
    note.body = "A better comment"
    note.save()
    equal(s.issue.notes.get(note.id).body, "A better comment")
    note.delete()
    fails(404, s.issue.notes.get, note.id)


@check("a note without a body: 400")
def _():
    fails(400, post, f"/projects/{s.project.id}/issues/1/notes", says="body is missing")


@check("somebody else's note may not be changed: 403")
def _():
    note = s.as_maria.issues.get(1).notes.create({"body": "Mine"})
    theirs = s.as_jonas.issues.get(1).notes.get(note.id)
    theirs.body = "Yours"
    fails(403, theirs.save)


@check("discussions: create, answer, list")
def _():
    discussion = s.issue.discussions.create({"body": "Shall we?"})
    discussion.notes.create({"body": "Yes"})
    again = s.issue.discussions.get(discussion.id)
    equal([note["body"] for note in again.attributes["notes"]], ["Shall we?", "Yes"])
    within(discussion.id, [row.id for row in s.issue.discussions.list(get_all=True)])


@check("links: create, list, remove; twice is 409")
def _():
    source, target = s.issue.links.create({"target_project_id": s.project.id, "target_issue_iid": 2})
    equal((source.iid, target.iid), (1, 2))
    links = s.issue.links.list()
    equal([link.iid for link in links], [2])
    fails(409, s.issue.links.create, {"target_project_id": s.project.id, "target_issue_iid": 2})
    s.issue.links.delete(links[0].issue_link_id)
    equal(s.issue.links.list(), [])


@check("time: estimate, spend, reset")
def _():
    s.issue.time_estimate("3h30m")
    s.issue.add_spent_time("1h")
    stats = s.project.issues.get(1).time_stats()
    equal((stats["time_estimate"], stats["total_time_spent"]), (12600, 3600))
    equal(stats["human_time_estimate"], "3h 30m")
    s.issue.reset_time_estimate()
    s.issue.reset_spent_time()
    equal(s.project.issues.get(1).time_stats()["time_estimate"], 0)


@check("subscribe and unsubscribe")
def _():
    issue = s.as_jonas.issues.get(3)
    issue.subscribe()
    equal(s.as_jonas.issues.get(3).subscribed, True)
    issue.unsubscribe()
    equal(s.as_jonas.issues.get(3).subscribed, False)


@check("emoji: add, list, remove")
def _():
    emoji = s.issue.awardemojis.create({"name": "thumbsup"})
    equal([row.name for row in s.issue.awardemojis.list()], ["thumbsup"])
    emoji.delete()
    equal(s.issue.awardemojis.list(), [])


@check("emoji on a note")
def _():
    note = s.issue.notes.create({"body": "Nod"})
    note.awardemojis.create({"name": "tada"})
    equal([row.name for row in s.issue.notes.get(note.id).awardemojis.list()], ["tada"])


@check("issues of a milestone, counts of a project")
def _():
    equal([issue.iid for issue in s.project.milestones.get(s.milestone.id).issues()], [1])
    counts = s.project.issues_statistics.get().statistics["counts"]
    equal((counts["all"], counts["opened"], counts["closed"]), (25, 25, 0))


@check("clone by GitLab: the old one stays")
def _():
    answer = root.http_post(f"/projects/{s.project.id}/issues/5/clone", post_data={"to_project_id": s.empty.id, "with_notes": False})
    equal((answer["project_id"], answer["title"]), (s.empty.id, "Issue 5"))
    equal(s.project.issues.get(5).state, "opened")
    s.empty.issues.delete(answer["iid"])


@check("participants")
def _():
    within(s.maria.id, [person["id"] for person in s.issue.participants()])


@check("events of labels and states")
def _():
    issue = s.project.issues.get(2)
    within("extra", [event.label["name"] for event in issue.resourcelabelevents.list() if event.label])
    equal([event.state for event in issue.resourcestateevents.list()], ["closed", "reopened"])


@check("move to another project")
def _():
    issue = s.project.issues.create({"title": "Wanderer"})
    iid = issue.iid
    issue.move(s.empty.id)
    equal(s.project.issues.get(iid).state, "closed")
    equal([row.title for row in s.empty.issues.list()], ["Wanderer"])


@check("delete: maintainers may not, owners may")
def _():
    issue = s.project.issues.create({"title": "Short-lived"})
    fails(403, maria.projects.get(s.project.id).issues.delete, issue.iid)
    issue.delete()
    fails(404, s.project.issues.get, issue.iid)


@check("a confidential one is hidden from guests: 404")
def _():
    issue = s.project.issues.create({"title": "Secret", "confidential": True})
    s.project.members.create({"user_id": s.newcomer.id, "access_level": 10})
    fails(404, s.project.issues.get, issue.iid, sudo="py-new")
    assert issue.iid not in [row.iid for row in s.project.issues.list(sudo="py-new", get_all=True)]
    equal([row.iid for row in s.project.issues.list(confidential=True)], [issue.iid])
    issue.delete()
    s.project.members.delete(s.newcomer.id)


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("files and commits")


@check("files: create, get, raw")
def _():
    answer = s.project.files.create({"file_path": "src/one.txt", "branch": "main", "content": "line one\nline two\n", "commit_message": "Add one"})
    equal(answer.file_path, "src/one.txt")
    file = s.project.files.get("src/one.txt", ref="main")
    equal(file.decode(), b"line one\nline two\n")
    equal(file.encoding, "base64")
    equal(file.size, 18)
    equal(s.project.files.raw("src/one.txt", ref="main"), b"line one\nline two\n")


@check("a file that is there: 400")
def _():
    fails(
        400,
        s.project.files.create,
        {"file_path": "src/one.txt", "branch": "main", "content": "x", "commit_message": "Again"},
        says="A file with this name already exists",
    )


@check("a file that is not there: 404")
def _():
    fails(404, s.project.files.get, "nothing.txt", ref="main", says="404 File Not Found")
    fails(404, s.project.files.raw, "nothing.txt", ref="main")


@check("change a file")
def _():
    file = s.project.files.get("src/one.txt", ref="main")
    file.content = "line one\nline 2\nline three\n"
    file.save(branch="main", commit_message="Change one")
    equal(s.project.files.raw("src/one.txt", ref="main"), b"line one\nline 2\nline three\n")


@check("binary content survives")
def _():
    data = bytes(range(256))
    s.project.files.create(
        {
            "file_path": "pixel.bin",
            "branch": "main",
            "content": base64.b64encode(data).decode(),
            "encoding": "base64",
            "commit_message": "Add bytes",
        }
    )
    equal(s.project.files.raw("pixel.bin", ref="main"), data)
    equal(s.project.files.get("pixel.bin", ref="main").decode(), data)


@check("blame")
def _():
    ranges = s.project.files.blame("src/one.txt", "main")
    equal([line for part in ranges for line in part["lines"]], ["line one", "line 2", "line three"])
    equal([part["commit"]["message"].strip() for part in ranges], ["Add one", "Change one"])


@check("delete a file")
def _():
    s.project.files.get("pixel.bin", ref="main").delete(branch="main", commit_message="Remove bytes")
    fails(404, s.project.files.get, "pixel.bin", ref="main")


@check("commit several files at once")
def _():
    s.commit = s.project.commits.create(
        {
            "branch": "main",
            "commit_message": "Several\n\nwith a body",
            "actions": [
                {"action": "create", "file_path": "src/two.txt", "content": "two\n"},
                {"action": "create", "file_path": "docs/guide.md", "content": "# Guide\n"},
                {"action": "update", "file_path": "src/one.txt", "content": "line one\nline 2\nline 3\n"},
            ],
        }
    )
    equal(s.commit.title, "Several")
    equal(len(s.commit.id), 40)


@check("move and chmod and delete in one commit")
def _():
    s.project.commits.create(
        {
            "branch": "main",
            "commit_message": "Tidy",
            "actions": [
                {"action": "move", "file_path": "docs/manual.md", "previous_path": "docs/guide.md"},
                {"action": "delete", "file_path": "src/two.txt"},
                {"action": "chmod", "file_path": "src/one.txt", "execute_filemode": True},
            ],
        }
    )
    equal(s.project.files.raw("docs/manual.md", ref="main"), b"# Guide\n")
    fails(404, s.project.files.get, "src/two.txt", ref="main")
    equal([row["mode"] for row in s.project.repository_tree("src", ref="main")], ["100755"])


@check("an update of a file that is not there: 400")
def _():
    fails(
        400,
        s.project.commits.create,
        {"branch": "main", "commit_message": "x", "actions": [{"action": "update", "file_path": "no.txt", "content": "x"}]},
        says="doesn't exist",
    )


@check("a commit to a branch that is not there: 400")
def _():
    fails(
        400,
        s.project.commits.create,
        {"branch": "nowhere", "commit_message": "x", "actions": [{"action": "create", "file_path": "no.txt", "content": "x"}]},
    )


@check("commits: list, by path, get, stats")
def _():
    commits = s.project.commits.list(ref_name="main", get_all=True)
    equal(commits[0].title, "Tidy")
    equal(commits[0].parent_ids, [s.commit.id])
    equal([row.title for row in s.project.commits.list(query_parameters={"path": "src/two.txt"})], ["Tidy", "Several"])
    one = s.project.commits.get(s.commit.id)
    equal(one.stats["additions"], 3)
    equal(one.stats["deletions"], 1)
    equal(s.project.commits.get("main").id, commits[0].id)
    equal(s.project.commits.get(s.commit.short_id).id, s.commit.id)


@check("an unknown commit: 404")
def _():
    fails(404, s.project.commits.get, "0123456789012345678901234567890123456789", says="404 Commit Not Found")


@check("diff of a commit")
def _():
    diffs = {row["new_path"]: row for row in s.commit.diff()}
    equal(diffs["src/two.txt"]["new_file"], True)
    within("-line three\n+line 3\n", diffs["src/one.txt"]["diff"])


@check("refs and comments of a commit")
def _():
    within("main", [ref["name"] for ref in s.commit.refs()])
    s.commit.comments.create({"note": "Well done"})
    equal([row.note for row in s.commit.comments.list()], ["Well done"])


@check("discussions of a commit")
def _():
    discussion = s.commit.discussions.create({"body": "Why?"})
    within(discussion.id, [row.id for row in s.commit.discussions.list()])


@check("statuses of a commit")
def _():
    s.commit.statuses.create({"state": "success", "name": "outside", "description": "fine"})
    within("outside", [row.name for row in s.commit.statuses.list()])


@check("merge requests and signature of a commit")
def _():
    equal(list(s.commit.merge_requests()), [])
    fails(404, s.commit.signature, says="404 Signature Not Found")


@check("revert and cherry-pick")
def _():
    s.project.branches.create({"branch": "pick", "ref": s.commit.parent_ids[0]})
    s.commit.cherry_pick(branch="pick")
    equal(s.project.files.raw("src/two.txt", ref="pick"), b"two\n")
    fails(400, s.commit.cherry_pick, branch="pick")
    s.project.commits.get("pick").revert(branch="pick")
    fails(404, s.project.files.get, "src/two.txt", ref="pick")


@check("tree: whole, folder, recursive")
def _():
    names = [row["name"] for row in s.project.repository_tree(ref="main")]
    equal(names, ["docs", "src", "README.md"])
    equal([row["type"] for row in s.project.repository_tree(ref="main")], ["tree", "tree", "blob"])
    equal([row["path"] for row in s.project.repository_tree("docs", ref="main")], ["docs/manual.md"])
    within("src/one.txt", [row["path"] for row in s.project.repository_tree(ref="main", recursive=True)])


@check("tree: a ref or folder that is not there: 404")
def _():
    fails(404, s.project.repository_tree, ref="nowhere", says="404 Tree Not Found")
    fails(404, s.project.repository_tree, "nowhere", ref="main")


@check("tree over keyset pages")
def _():
    actions = [{"action": "create", "file_path": f"many/{number:02}.txt", "content": str(number)} for number in range(25)]
    s.project.commits.create({"branch": "pick", "commit_message": "Many", "actions": actions})
    rows = s.project.repository_tree("many", ref="pick", pagination="keyset", per_page=10, iterator=True)
    equal([row["name"] for row in rows], [f"{number:02}.txt" for number in range(25)])


@check("tree over offset pages")
def _():
    rows = s.project.repository_tree("many", ref="pick", per_page=10, iterator=True)
    equal(len(list(rows)), 25)


@check("blobs")
def _():
    sha = s.project.repository_tree("docs", ref="main")[0]["id"]
    blob = s.project.repository_blob(sha)
    equal(base64.b64decode(blob["content"]), b"# Guide\n")
    equal(s.project.repository_raw_blob(sha), b"# Guide\n")


@check("compare")
def _():
    comparison = s.project.repository_compare("main", "pick")
    within("Many", [row["title"] for row in comparison["commits"]])
    within("many/00.txt", [row["new_path"] for row in comparison["diffs"]])
    same = s.project.repository_compare("main", "main")
    equal((same["commits"], same["compare_same_ref"]), ([], True))
    fails(404, s.project.repository_compare, "main", "nowhere")


@check("merge base and contributors")
def _():
    base = s.project.repository_merge_base(["main", "pick"])
    equal(base["id"], s.commit.parent_ids[0])
    people = s.project.repository_contributors()
    assert people and people[0]["commits"] > 0


@check("archive")
def _():
    assert s.project.repository_archive(sha="main")[:2] == b"\x1f\x8b"


@check("an empty repository: no commits, no tree")
def _():
    fails(404, s.empty.repository_tree)
    equal(s.empty.branches.list(), [])


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("branches and tags")


@check("branches: create, list, search, get")
def _():
    branch = s.project.branches.create({"branch": "feature/a", "ref": "main"})
    equal(branch.name, "feature/a")
    within("feature/a", [row.name for row in s.project.branches.list()])
    equal([row.name for row in s.project.branches.list(search="^feature")], ["feature/a"])
    again = s.project.branches.get("feature/a")
    equal((again.merged, again.protected, again.default), (False, False, False))
    equal(s.project.branches.get("main").default, True)


@check("a branch that is there: 400")
def _():
    fails(400, s.project.branches.create, {"branch": "feature/a", "ref": "main"}, says="Branch already exists")


@check("a branch from nowhere: 400")
def _():
    fails(400, s.project.branches.create, {"branch": "feature/b", "ref": "nowhere"}, says="Invalid reference name")


@check("a branch that is not there: 404")
def _():
    fails(404, s.project.branches.get, "feature/none", says="404 Branch Not Found")


@check("the default branch is protected")
def _():
    equal([row.name for row in s.project.protectedbranches.list()], ["main"])
    equal(s.project.branches.get("main").protected, True)


@check("the default branch may not be deleted")
def _():
    fails((400, 403, 405), s.project.branches.delete, "main")


@check("protect, get, twice 409")
def _():
    rule = s.project.protectedbranches.create({"name": "release/*", "push_access_level": 0, "merge_access_level": 40})
    equal(rule.push_access_levels[0]["access_level"], 0)
    equal(s.project.protectedbranches.get("release/*").merge_access_levels[0]["access_level"], 40)
    fails(409, s.project.protectedbranches.create, {"name": "release/*"}, says="already exists")


@check("developers may not push to a protected branch: refused")
def _():
    fails(
        (400, 403),
        jonas.projects.get(s.project.id).files.create,
        {"file_path": "x.txt", "branch": "main", "content": "x", "commit_message": "x"},
        says="not allowed to push",
    )


@check("developers may push elsewhere")
def _():
    s.as_jonas.files.create({"file_path": "x.txt", "branch": "feature/a", "content": "x\n", "commit_message": "Add x"})
    equal(s.as_jonas.branches.get("feature/a").commit["author_name"], s.jonas.name)


@check("a developer may not protect: 403")
def _():
    fails((401, 403), s.as_jonas.protectedbranches.create, {"name": "mine"})


@check("unprotect, then 404")
def _():
    s.project.protectedbranches.delete("release/*")
    fails(404, s.project.protectedbranches.get, "release/*")


@check("tags: create, list, get")
def _():
    tag = s.project.tags.create({"tag_name": "v0.1", "ref": "main", "message": "First"})
    equal((tag.name, tag.message), ("v0.1", "First"))
    equal([row.name for row in s.project.tags.list()], ["v0.1"])
    equal(s.project.tags.get("v0.1").commit["id"], s.project.commits.get("main").id)


@check("a tag that is there, a tag from nowhere: 400")
def _():
    fails(400, s.project.tags.create, {"tag_name": "v0.1", "ref": "main"}, says="already exists")
    fails(400, s.project.tags.create, {"tag_name": "v0.2", "ref": "nowhere"}, says="invalid")


@check("delete a tag, then 404")
def _():
    s.project.tags.create({"tag_name": "gone", "ref": "main"}).delete()
    fails(404, s.project.tags.get, "gone", says="404 Tag Not Found")


@check("protected tags")
def _():
    s.project.protectedtags.create({"name": "v*", "create_access_level": 40})
    equal(s.project.protectedtags.get("v*").create_access_levels[0]["access_level"], 40)
    fails((400, 403), s.as_jonas.tags.create, {"tag_name": "v7", "ref": "main"})
    s.project.protectedtags.delete("v*")
    fails(404, s.project.protectedtags.get, "v*")


@check("delete a branch")
def _():
    s.project.branches.create({"branch": "short", "ref": "main"}).delete()
    fails(404, s.project.branches.get, "short")


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("merge requests")


def branch_with(name, path, content, start="main"):
    s.project.commits.create(
        {
            "branch": name,
            "start_branch": start,
            "commit_message": f"Change {path}",
            "actions": [{"action": "create", "file_path": path, "content": content}],
        }
    )


@check("create, numbered per project")
def _():
    branch_with("topic", "topic.txt", "one\ntwo\nthree\n")
    s.mr = s.as_maria.mergerequests.create(
        {
            "source_branch": "topic",
            "target_branch": "main",
            "title": "Topic",
            "description": "Closes #3",
            "labels": ["bug"],
            "assignee_id": s.maria.id,
            "reviewer_ids": [s.jonas.id],
        }
    )
    equal((s.mr.iid, s.mr.state), (1, "opened"))
    equal(s.mr.reviewers[0]["id"], s.jonas.id)
    equal(len(s.mr.sha), 40)


@check("the same branches again: 409")
def _():
    fails(
        409,
        s.project.mergerequests.create,
        {"source_branch": "topic", "target_branch": "main", "title": "Again"},
        says="already exists for this source branch: !1",
    )


@check("a branch into itself: 422")
def _():
    fails(422, s.project.mergerequests.create, {"source_branch": "main", "target_branch": "main", "title": "Loop"}, says="same project/branch")


@check("without a title, from a branch that is not there: 400")
def _():
    path = f"/projects/{s.project.id}/merge_requests"
    fails(400, post, path, {"source_branch": "topic", "target_branch": "main"}, says="title is missing")
    fails(400, s.project.mergerequests.create, {"source_branch": "nowhere", "target_branch": "main", "title": "x"})


@check("list by state, author, reviewer, branch, label")
def _():
    equal([row.iid for row in s.project.mergerequests.list(state="opened")], [1])
    equal([row.iid for row in s.project.mergerequests.list(author_id=s.maria.id)], [1])
    equal([row.iid for row in s.project.mergerequests.list(reviewer_id=s.jonas.id)], [1])
    equal([row.iid for row in s.project.mergerequests.list(source_branch="topic")], [1])
    equal(s.project.mergerequests.list(labels="none of these"), [])
    within(s.mr.id, [row.id for row in maria.mergerequests.list(scope="created_by_me", get_all=True)])
    within(s.mr.id, [row.id for row in s.group.mergerequests.list()])


@check("get: diff refs and merge status")
def _():
    mr = s.project.mergerequests.get(1)
    equal(mr.diff_refs["head_sha"], mr.sha)
    equal(mr.detailed_merge_status, "mergeable")
    equal(mr.has_conflicts, False)


@check("commits and changes")
def _():
    equal([row.title for row in s.mr.commits()], ["Change topic.txt"])
    changes = s.mr.changes()["changes"]
    equal([row["new_path"] for row in changes], ["topic.txt"])
    within("+two", changes[0]["diff"])


@check("diffs per file")
def _():
    diffs = root.http_list(f"/projects/{s.project.id}/merge_requests/1/diffs", get_all=True)
    equal([row["new_path"] for row in diffs], ["topic.txt"])


@check("versions")
def _():
    versions = s.mr.diffs.list()
    equal(versions[0].head_commit_sha, s.mr.sha)
    equal(s.mr.diffs.get(versions[0].id).diffs[0]["new_path"], "topic.txt")


@check("change")
def _():
    mr = s.project.mergerequests.get(1)
    mr.title = "Topic, better"
    mr.add_labels = "more"
    mr.save()
    again = s.project.mergerequests.get(1)
    equal(again.title, "Topic, better")
    equal(sorted(again.labels), ["bug", "more"])


@check("approve, approvals, unapprove")
def _():
    mr = s.as_jonas.mergerequests.get(1)
    mr.approve()
    equal([row["user"]["id"] for row in s.mr.approvals.get().approved_by], [s.jonas.id])
    fails((401, 403), mr.approve)
    mr.unapprove()
    equal(s.mr.approvals.get().approved_by, [])


@check("approval of a wrong sha: 409")
def _():
    fails(409, s.as_jonas.mergerequests.get(1).approve, sha="0" * 40)


@check("approval rules, and what is still missing")
def _():
    rule = s.mr.approval_rules.create({"name": "Readers", "approvals_required": 1, "user_ids": [s.jonas.id], "group_ids": []})
    within(rule.id, [row.id for row in s.mr.approval_rules.list()])
    state = {row["name"]: row["approved"] for row in s.mr.approval_state.get().rules}
    equal(state["Readers"], False)
    s.as_jonas.mergerequests.get(1).approve()
    state = {row["name"]: row["approved"] for row in s.mr.approval_state.get().rules}
    equal(state["Readers"], True)
    s.as_jonas.mergerequests.get(1).unapprove()
    rule.delete()


@check("draft notes: unseen until published")
def _():
    path = f"/projects/{s.project.id}/merge_requests/1/draft_notes"
    draft = post(path, {"note": "Thought about it"}, who=jonas)
    equal([row["id"] for row in jonas.http_list(path, get_all=True)], [draft["id"]])
    equal(maria.http_list(path, get_all=True), [])
    assert "Thought about it" not in [row.body for row in s.mr.notes.list(get_all=True)]
    post(f"{path}/bulk_publish", who=jonas)
    within("Thought about it", [row.body for row in s.mr.notes.list(get_all=True)])
    equal(jonas.http_list(path, get_all=True), [])


@check("notes")
def _():
    note = s.as_jonas.mergerequests.get(1).notes.create({"body": "Looks fine"})
    within(note.id, [row.id for row in s.mr.notes.list()])
    fails(404, s.mr.notes.get, 99999999)


@check("discussion on a line: create, answer, resolve")
def _():
    refs = s.project.mergerequests.get(1).diff_refs
    position = {
        "base_sha": refs["base_sha"],
        "start_sha": refs["start_sha"],
        "head_sha": refs["head_sha"],
        "position_type": "text",
        "old_path": "topic.txt",
        "new_path": "topic.txt",
        "new_line": 2,
    }
    discussion = s.as_jonas.mergerequests.get(1).discussions.create({"body": "Why two?", "position": position})
    note = discussion.attributes["notes"][0]
    equal((note["type"], note["position"]["new_line"], note["resolvable"]), ("DiffNote", 2, True))
    discussion.notes.create({"body": "Because"})
    mine = s.mr.discussions.get(discussion.id)
    equal(len(mine.attributes["notes"]), 2)
    mine.resolved = True
    mine.save()
    equal(s.mr.discussions.get(discussion.id).attributes["notes"][0]["resolved"], True)


@check("a line that is not in the diff: 400")
def _():
    refs = s.project.mergerequests.get(1).diff_refs
    position = {**refs, "position_type": "text", "new_path": "topic.txt", "old_path": "topic.txt", "new_line": 900}
    fails(400, s.mr.discussions.create, {"body": "Where?", "position": position}, says="line_code")


@check("discussion without a place")
def _():
    discussion = s.mr.discussions.create({"body": "In general"})
    within(discussion.id, [row.id for row in s.mr.discussions.list(get_all=True)])


@check("participants, issues it closes, related ones")
def _():
    within(s.jonas.id, [row["id"] for row in s.mr.participants()])
    equal([row.iid for row in s.mr.closes_issues()], [3])
    equal([row["iid"] for row in s.project.issues.get(3).closed_by()], [1])


@check("subscribe, emoji, time, to-do")
def _():
    mr = s.as_jonas.mergerequests.get(1)
    mr.awardemojis.create({"name": "rocket"})
    equal([row.name for row in mr.awardemojis.list()], ["rocket"])
    mr.time_estimate("1h")
    equal(s.project.mergerequests.get(1).time_stats()["time_estimate"], 3600)
    mr.todo()
    within(s.mr.iid, [row.target["iid"] for row in jonas.todos.list(type="MergeRequest", get_all=True)])


@check("a wrong sha: 409, and nothing is merged")
def _():
    error = fails(409, s.project.mergerequests.get(1).merge, sha="0" * 40)
    within("SHA", str(error.error_message))
    equal(s.project.mergerequests.get(1).state, "opened")


@check("somebody who may not merge: 401")
def _():
    fails(401, s.as_jonas.mergerequests.get(1).merge)


@check("a draft: 405")
def _():
    branch_with("draft", "draft.txt", "x\n")
    mr = s.project.mergerequests.create({"source_branch": "draft", "target_branch": "main", "title": "Draft: not yet"})
    equal(s.project.mergerequests.get(mr.iid).draft, True)
    equal(s.project.mergerequests.get(mr.iid).detailed_merge_status, "draft_status")
    fails(405, mr.merge, says="405 Method Not Allowed")
    mr.title = "Now"
    mr.save()
    equal(s.project.mergerequests.get(mr.iid).draft, False)


@check("close, reopen; a closed one cannot be merged: 405")
def _():
    mr = s.project.mergerequests.list(source_branch="draft")[0]
    mr.state_event = "close"
    mr.save()
    equal(s.project.mergerequests.get(mr.iid).state, "closed")
    fails(405, mr.merge)
    mr.state_event = "reopen"
    mr.save()
    equal(s.project.mergerequests.get(mr.iid).state, "opened")


@check("conflicts: said, and 422 on merge")
def _():
    branch_with("left", "clash.txt", "left\n")
    branch_with("right", "clash.txt", "right\n")
    left = s.project.mergerequests.create({"source_branch": "left", "target_branch": "main", "title": "Left"})
    right = s.project.mergerequests.create({"source_branch": "right", "target_branch": "main", "title": "Right"})
    left.merge()
    right = s.project.mergerequests.get(right.iid)
    equal((right.has_conflicts, right.detailed_merge_status), (True, "conflict"))
    fails(422, right.merge, says="Branch cannot be merged")
    equal(s.project.mergerequests.get(right.iid).state, "opened")


@check("rebase")
def _():
    mr = s.project.mergerequests.list(source_branch="draft")[0]
    answer = mr.rebase()
    equal(answer["rebase_in_progress"], True)
    again = root.http_get(f"/projects/{s.project.id}/merge_requests/{mr.iid}", query_data={"include_rebase_in_progress": True})
    equal(again["rebase_in_progress"], False)
    equal(s.project.repository_merge_base(["main", "draft"])["id"], s.project.commits.get("main").id)


@check("merge: the branch goes, the file comes, the issue closes")
def _():
    mr = s.as_maria.mergerequests.get(1)
    mr.merge(should_remove_source_branch=True, sha=mr.sha)
    merged = s.project.mergerequests.get(1)
    equal((merged.state, merged.merged_by["id"]), ("merged", s.maria.id))
    equal(s.project.commits.get("main").id, merged.merge_commit_sha)
    equal(s.project.files.raw("topic.txt", ref="main"), b"one\ntwo\nthree\n")
    fails(404, s.project.branches.get, "topic")
    equal(s.project.issues.get(3).state, "closed")


@check("merge twice: 405")
def _():
    fails(405, s.project.mergerequests.get(1).merge)


@check("squash")
def _():
    branch_with("squash", "s1.txt", "1\n")
    branch_with("squash2", "s2.txt", "2\n", start="squash")
    mr = s.project.mergerequests.create({"source_branch": "squash2", "target_branch": "main", "title": "Squashed", "squash": True})
    equal(len(list(mr.commits())), 2)
    mr.merge(squash=True)
    assert s.project.mergerequests.get(mr.iid).squash_commit_sha
    equal(s.project.files.raw("s2.txt", ref="main"), b"2\n")


@check("merged branches can be deleted together")
def _():
    s.project.delete_merged_branches()
    names = [row.name for row in s.project.branches.list(get_all=True)]
    assert "left" not in names and "main" in names, names


@check("an unknown one: 404")
def _():
    fails(404, s.project.mergerequests.get, 4040, says="404")


@check("delete")
def _():
    mr = s.project.mergerequests.list(source_branch="right")[0]
    fails(403, s.as_jonas.mergerequests.delete, mr.iid)
    mr.delete()
    fails(404, s.project.mergerequests.get, mr.iid)


@check("from a fork")
def _():
    fork = s.as_maria.forks.create({})
    equal(fork.forked_from_project["id"], s.project.id)
    within(fork.id, [row.id for row in s.project.forks.list()])
    s.fork = maria.projects.get(fork.id)
    s.fork.files.create({"file_path": "fork.txt", "branch": "main", "content": "f\n", "commit_message": "From the fork"})
    mr = s.fork.mergerequests.create(
        {"source_branch": "main", "target_branch": "main", "target_project_id": s.project.id, "title": "Across"}
    )
    equal((mr.source_project_id, mr.target_project_id), (s.fork.id, s.project.id))
    s.project.mergerequests.get(mr.iid).merge()
    equal(s.project.files.raw("fork.txt", ref="main"), b"f\n")


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("pipelines and jobs")


@check("a commit starts a pipeline")
def _():
    equal(s.project.pipelines.list(), [])
    s.project.files.create({"file_path": ".gitlab-ci.yml", "branch": "main", "content": CI_FILE, "commit_message": "Add CI"})
    pipelines = s.project.pipelines.list()
    equal([row.sha for row in pipelines], [s.project.commits.get("main").id])
    equal((pipelines[0].ref, pipelines[0].source), ("main", "push"))
    s.pipeline = s.project.pipelines.get(pipelines[0].id)


@check("its jobs, from the CI file")
def _():
    jobs = s.pipeline.jobs.list()
    equal({job.name: job.stage for job in jobs}, {"compile": "build", "unit": "test"})
    equal({job.id for job in s.project.jobs.list()} >= {job.id for job in jobs}, True)
    s.job = s.project.jobs.get(jobs[0].id)
    equal(s.job.pipeline["id"], s.pipeline.id)


@check("latest")
def _():
    equal(root.http_get(f"/projects/{s.project.id}/pipelines/latest", query_data={"ref": "main"})["id"], s.pipeline.id)


@check("create")
def _():
    pipeline = s.project.pipelines.create({"ref": "main", "variables": [{"key": "DEPLOY", "value": "yes"}]})
    equal(pipeline.source, "api")
    equal([(row.key, row.value) for row in s.project.pipelines.get(pipeline.id).variables.list()], [("DEPLOY", "yes")])
    s.second = s.project.pipelines.get(pipeline.id)


@check("create for a ref that is not there: 400")
def _():
    fails(400, s.project.pipelines.create, {"ref": "nowhere"}, says="Reference not found")


@check("cancel and retry")
def _():
    s.second.cancel()
    within(s.project.pipelines.get(s.second.id).status, ["canceled", "canceling"])
    s.second.retry()
    within(s.project.pipelines.get(s.second.id).status, ["pending", "running", "created", "success"])


@check("delete")
def _():
    fails(403, s.as_jonas.pipelines.delete, s.second.id)
    s.second.delete()
    fails(404, s.project.pipelines.get, s.second.id, says="404")


def seeded_failure():
    for project in root.projects.list(iterator=True):
        try:
            failures = project.pipelines.list(status="failed", per_page=50, get_all=False)
        except GitlabError:
            continue
        for pipeline in failures:
            full = root.projects.get(project.id)
            jobs = full.pipelines.get(pipeline.id).jobs.list(get_all=True)
            broken = [job for job in jobs if job.status == "failed" and not job.allow_failure]
            if broken:
                return full, full.pipelines.get(pipeline.id), full.jobs.get(broken[0].id)
    raise AssertionError("no project has a failed pipeline with a failed job")


@check("the seeds hold a failed pipeline")
def _():
    s.seeded, s.broken, s.broken_job = seeded_failure()
    equal(s.broken.status, "failed")
    assert s.broken_job.failure_reason


@check("read the log of a failed job")
def _():
    log = s.broken_job.trace()
    assert isinstance(log, bytes) and len(log) > 200, len(log)
    within(b"ERROR: Job failed", log)


@check("a log in pieces")
def _():
    pieces = []
    s.broken_job.trace(streamed=True, action=pieces.append)
    equal(b"".join(pieces), s.broken_job.trace())


@check("jobs by scope")
def _():
    failed_jobs = s.broken.jobs.list(scope="failed", get_all=True)
    within(s.broken_job.id, [job.id for job in failed_jobs])
    equal({job.status for job in failed_jobs}, {"failed"})


@check("retry a failed job: a new one comes")
def _():
    answer = s.broken_job.retry()
    assert answer["id"] != s.broken_job.id
    equal(answer["name"], s.broken_job.name)
    jobs = s.broken.jobs.list(get_all=True)
    assert s.broken_job.id not in [job.id for job in jobs], "the retried job is still listed"
    within(s.broken_job.id, [job.id for job in s.broken.jobs.list(include_retried=True, get_all=True)])


@check("retry what cannot be retried: 403")
def _():
    fails(403, s.broken_job.retry, says="not retryable")


@check("cancel, erase and play")
def _():
    job = s.project.jobs.get(s.pipeline.jobs.list()[0].id)
    if job.status in ("created", "pending", "running"):
        equal(job.cancel()["status"] in ("canceled", "canceling"), True)
    fails((400, 403), s.project.jobs.get(job.id).play)


@check("an unknown job: 404")
def _():
    fails(404, s.project.jobs.get, 99999999)
    fails(404, s.project.jobs.get(s.job.id).artifacts)


@check("child pipelines")
def _():
    found = []
    for project in root.projects.list(iterator=True):
        for pipeline in project.pipelines.list(per_page=50, get_all=False) if project.default_branch else []:
            bridges = root.projects.get(project.id).pipelines.get(pipeline.id).bridges.list()
            found += [bridge for bridge in bridges if bridge.downstream_pipeline]
        if found:
            child = found[0].downstream_pipeline
            equal(root.projects.get(child["project_id"]).pipelines.get(child["id"]).source, "parent_pipeline")
            return
    raise AssertionError("no seeded pipeline has a child")


@check("test report")
def _():
    report = s.broken.test_report.get()
    assert isinstance(report.total_count, int)


@check("schedules: create, get, change, variables")
def _():
    schedule = s.as_maria.pipelineschedules.create({"description": "Nightly", "ref": "main", "cron": "0 4 * * *"})
    equal((schedule.active, schedule.owner["id"]), (True, s.maria.id))
    schedule.active = False
    schedule.save()
    equal(s.project.pipelineschedules.get(schedule.id).active, False)
    schedule.variables.create({"key": "MODE", "value": "deep"})
    equal(s.as_maria.pipelineschedules.get(schedule.id).attributes["variables"][0]["key"], "MODE")
    within(schedule.id, [row.id for row in s.project.pipelineschedules.list()])
    s.schedule = schedule


@check("a schedule with a bad time: 400")
def _():
    fails(400, s.project.pipelineschedules.create, {"description": "Never", "ref": "main", "cron": "sometimes"}, says="cron")


@check("not the owner: 403; after taking it over, yes")
def _():
    theirs = s.as_jonas.pipelineschedules.get(s.schedule.id)
    theirs.active = True
    fails(403, theirs.save)
    s.project.pipelineschedules.get(s.schedule.id).take_ownership()
    equal(s.project.pipelineschedules.get(s.schedule.id).owner["id"], s.root.id)


@check("play and delete a schedule")
def _():
    before = len(s.project.pipelines.list(get_all=True))
    s.project.pipelineschedules.get(s.schedule.id).play()
    equal(len(s.project.pipelines.list(get_all=True)), before + 1)
    s.project.pipelineschedules.delete(s.schedule.id)
    fails(404, s.project.pipelineschedules.get, s.schedule.id, says="404 Pipeline Schedule Not Found")


@check("a pipeline for a merge request")
def _():
    branch_with("piped", "piped.txt", "p\n")
    mr = s.project.mergerequests.create({"source_branch": "piped", "target_branch": "main", "title": "Piped"})
    mr.pipelines.create({})
    assert len(mr.pipelines.list()) >= 1
    mr.delete()


@check("jobs over keyset pages")
def _():
    pages = s.seeded.jobs.list(iterator=True, pagination="keyset", order_by="id", sort="desc", per_page=5)
    ids = [job.id for job in pages]
    equal(ids, sorted(set(ids), reverse=True))
    assert len(ids) > 5, len(ids)
    equal(len(ids), len(s.seeded.jobs.list(get_all=True)))


@check("a manual job is played")
def _():
    manual = "stages: [build]\nby-hand:\n  stage: build\n  when: manual\n  script: [make]\n"
    s.project.branches.create({"branch": "manual", "ref": "main"})
    file = s.project.files.get(".gitlab-ci.yml", ref="manual")
    file.content = manual
    file.save(branch="manual", commit_message="By hand")
    job = s.project.pipelines.list(ref="manual")[0]
    job = s.project.pipelines.get(job.id).jobs.list()[0]
    equal((job.name, job.status), ("by-hand", "manual"))
    s.project.jobs.get(job.id).play()
    within(s.project.jobs.get(job.id).status, ["pending", "running", "created", "success"])
    fails((400, 403), s.project.jobs.get(job.id).play)


@check("erase a log: owners may, developers not")
def _():
    fails(403, s.as_jonas.jobs.get(s.job.id).erase)
    done = next(job for job in s.seeded.jobs.list(iterator=True) if job.status == "success")
    job = s.seeded.jobs.get(done.id)
    job.erase()
    assert s.seeded.jobs.get(done.id).erased_at
    equal(s.seeded.jobs.get(done.id).trace(), b"")
    fails(403, job.erase, says="not erasable")


@check("a bad CI file: the pipeline says so")
def _():
    s.project.branches.create({"branch": "broken-ci", "ref": "main"})
    file = s.project.files.get(".gitlab-ci.yml", ref="broken-ci")
    file.content = "job:\n  stage: nowhere\n"
    file.save(branch="broken-ci", commit_message="Break CI")
    fails(400, s.project.pipelines.create, {"ref": "broken-ci"})
    made = s.project.pipelines.list(ref="broken-ci")
    if made:
        full = s.project.pipelines.get(made[0].id)
        assert full.yaml_errors, "a pipeline of a bad file without yaml_errors"


@check("triggers")
def _():
    trigger = s.project.triggers.create({"description": "outside"})
    pipeline = s.project.trigger_pipeline("main", trigger.token, variables={"A": "b"})
    equal(pipeline.source, "trigger")
    fails(404, s.project.trigger_pipeline, "main", "wrong")
    trigger.delete()


@check("lint: good and bad")
def _():
    equal(s.project.ci_lint.create({"content": CI_FILE}).valid, True)
    bad = s.project.ci_lint.create({"content": "job:\n  stage: nowhere\n"})
    equal(bad.valid, False)
    assert bad.errors
    equal(s.project.ci_lint.get().valid, True)


@check("merge when the pipeline succeeds: set, said, taken back")
def _():
    branch_with("auto", "auto.txt", "a\n")
    mr = s.project.mergerequests.create({"source_branch": "auto", "target_branch": "main", "title": "Auto"})
    assert s.project.pipelines.list(ref="auto") or mr.pipelines.list(), "the branch has no pipeline"
    mr.merge(merge_when_pipeline_succeeds=True)
    again = s.project.mergerequests.get(mr.iid)
    equal((again.state, again.merge_when_pipeline_succeeds), ("opened", True))
    equal(len(again.pipelines.list()) >= 1, True)
    again.cancel_merge_when_pipeline_succeeds()
    equal(s.project.mergerequests.get(mr.iid).merge_when_pipeline_succeeds, False)


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("tokens")


@check("of a project: create, list, get")
def _():
    s.token = s.project.access_tokens.create({"name": "robot", "scopes": ["read_api"], "access_level": 20, "expires_at": "2026-12-24"})
    assert s.token.token
    listed = s.project.access_tokens.list()
    equal([row.name for row in listed], ["robot"])
    assert not hasattr(listed[0], "token") or not listed[0].attributes.get("token"), "a list shows the secret"
    equal(root.http_get(f"/projects/{s.project.id}/access_tokens/{s.token.id}")["scopes"], ["read_api"])


@check("it works, within its scopes and its project")
def _():
    robot = gitlab.Gitlab(URL, private_token=s.token.token)
    equal(robot.projects.get(s.project.id).id, s.project.id)
    fails(403, robot.projects.get(s.project.id).issues.create, {"title": "no"})
    fails(404, robot.projects.get, s.empty.id)


@check("rotate: the new one works, the old one does not")
def _():
    old = s.token.token
    answer = root.http_post(f"/projects/{s.project.id}/access_tokens/{s.token.id}/rotate", post_data={"expires_at": "2026-12-31"})
    assert answer["token"] and answer["token"] != old and answer["id"] != s.token.id
    gitlab.Gitlab(URL, private_token=answer["token"]).projects.get(s.project.id)
    fails(401, gitlab.Gitlab(URL, private_token=old).projects.get, s.project.id)
    s.rotated = answer


@check("revoke")
def _():
    s.project.access_tokens.delete(s.rotated["id"])
    fails(401, gitlab.Gitlab(URL, private_token=s.rotated["token"]).projects.get, s.project.id)


@check("a scope that there is not, no name: 400")
def _():
    fails(400, s.project.access_tokens.create, {"name": "x", "scopes": ["everything"]})
    fails(400, post, f"/projects/{s.project.id}/access_tokens", {"scopes": ["api"]}, says="name is missing")


@check("a developer may not: 401 or 403")
def _():
    fails((401, 403), s.as_jonas.access_tokens.create, {"name": "x", "scopes": ["api"], "access_level": 30, "expires_at": "2026-12-24"})


@check("of a group")
def _():
    token = s.group.access_tokens.create({"name": "group robot", "scopes": ["api"], "access_level": 40, "expires_at": "2026-12-24"})
    equal(gitlab.Gitlab(URL, private_token=token.token).groups.get(s.group.id).id, s.group.id)
    token.delete()


@check("personal ones: list, create for a user, rotate, revoke")
def _():
    within("api", root.personal_access_tokens.list(user_id=s.root.id)[0].scopes)
    token = root.users.get(s.newcomer.id).personal_access_tokens.create({"name": "own", "scopes": ["api"], "expires_at": "2026-12-24"})
    own = gitlab.Gitlab(URL, private_token=token.token)
    own.auth()
    equal(own.user.id, s.newcomer.id)
    answer = own.http_post("/personal_access_tokens/self/rotate", post_data={"expires_at": "2026-12-30"})
    fails(401, own.auth)
    gitlab.Gitlab(URL, private_token=answer["token"]).auth()
    root.personal_access_tokens.delete(answer["id"])
    fails(401, gitlab.Gitlab(URL, private_token=answer["token"]).auth)


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("search, to-dos, releases")


@check("search everywhere, in a group, in a project")
def _():
    within(s.project.id, [row["id"] for row in root.search("projects", "py-project")])
    within(1, [row["iid"] for row in s.group.search("issues", "First")])
    within(1, [row["iid"] for row in s.project.search("issues", "First")])
    within(1, [row["iid"] for row in s.project.search("merge_requests", "Topic")])


@check("search in files")
def _():
    hits = s.project.search("blobs", "Guide")
    equal([row["path"] for row in hits], ["docs/manual.md"])
    within("Guide", hits[0]["data"])


@check("search in commits, milestones, users")
def _():
    within("Tidy", [row["title"] for row in s.project.search("commits", "Tidy")])
    within("1.0", [row["title"] for row in s.project.search("milestones", "1.0")])
    within(s.maria.id, [row["id"] for row in root.search("users", s.maria.username)])


@check("a scope that there is not: 400")
def _():
    fails(400, root.search, "everything", "x", says="scope does not have a valid value")


@check("to-dos: made, listed, done")
def _():
    s.project.issues.get(4).notes.create({"body": f"@{s.jonas.username} please look"})
    s.as_jonas.issues.get(4).todo()
    todos = jonas.todos.list(state="pending", get_all=True)
    todo = next(row for row in todos if row.target_type == "Issue" and row.target["iid"] == 4 and row.project["id"] == s.project.id)
    todo.mark_as_done()
    assert todo.id not in [row.id for row in jonas.todos.list(state="pending", get_all=True)]
    within(todo.id, [row.id for row in jonas.todos.list(state="done", get_all=True)])


@check("all to-dos done")
def _():
    jonas.todos.mark_all_as_done()
    equal(jonas.todos.list(state="pending"), [])


@check("releases: create, list, get, change")
def _():
    release = s.project.releases.create({"tag_name": "v0.1", "name": "First", "description": "Notes", "milestones": ["1.0"]})
    equal((release.tag_name, release.description), ("v0.1", "Notes"))
    equal([row.tag_name for row in s.project.releases.list()], ["v0.1"])
    release = s.project.releases.get("v0.1")
    equal(release.attributes["milestones"][0]["title"], "1.0")
    release.description = "Better notes"
    release.save()
    equal(s.project.releases.get("v0.1").description, "Better notes")


@check("a release makes its tag")
def _():
    s.project.releases.create({"tag_name": "v0.2", "ref": "main", "description": "Second"})
    equal(s.project.tags.get("v0.2").release["description"], "Second")


@check("a release that is there: 409; one without a tag: 422")
def _():
    fails(409, s.project.releases.create, {"tag_name": "v0.1", "description": "Again"}, says="Release already exists")
    fails((400, 422), s.project.releases.create, {"tag_name": "v9", "description": "No ref"}, says="ref")


@check("links of a release")
def _():
    release = s.project.releases.get("v0.1")
    link = release.links.create({"name": "package", "url": "https://example.com/package.tgz"})
    equal([row.url for row in release.links.list()], ["https://example.com/package.tgz"])
    link.delete()
    equal(release.links.list(), [])


@check("delete a release: the tag stays")
def _():
    s.project.releases.delete("v0.2")
    fails(404, s.project.releases.get, "v0.2")
    equal(s.project.tags.get("v0.2").name, "v0.2")


@check("changelog from trailers")
def _():
    branch_with("log", "log.txt", "l\n")
    s.project.commits.create(
        {
            "branch": "main",
            "commit_message": "Log it\n\nChangelog: added",
            "actions": [{"action": "create", "file_path": "log.txt", "content": "l\n"}],
        }
    )
    notes = root.http_get(f"/projects/{s.project.id}/repository/changelog", query_data={"version": "0.2.0", "from": "v0.1"})["notes"]
    within("Log it", notes)


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("wikis, snippets, variables")


@check("wiki pages")
def _():
    served(f"/projects/{s.project.id}/wikis")
    page = s.project.wikis.create({"title": "Home", "content": "Hello"})
    equal(s.project.wikis.get(page.slug).content, "Hello")
    page.content = "Hello again"
    page.save()
    page.delete()
    fails(404, s.project.wikis.get, page.slug)


@check("snippets")
def _():
    served(f"/projects/{s.project.id}/snippets")
    snippet = s.project.snippets.create({"title": "Bit", "file_name": "a.txt", "content": "a\n", "visibility": "private"})
    equal(s.project.snippets.get(snippet.id).title, "Bit")
    equal(snippet.content(), b"a\n")
    snippet.title = "Bit, changed"
    snippet.save()
    equal([row.title for row in s.project.snippets.list()], ["Bit, changed"])
    snippet.delete()
    fails(404, s.project.snippets.get, snippet.id)


@check("CI variables")
def _():
    served(f"/projects/{s.project.id}/variables")
    variable = s.project.variables.create({"key": "HOST", "value": "example.com"})
    variable.value = "example.org"
    variable.save()
    equal(s.project.variables.get("HOST").value, "example.org")
    fails(400, s.project.variables.create, {"key": "HOST", "value": "x"}, says="taken")
    variable.delete()


@check("a path that GitLab does not have: 404")
def _():
    error = fails(404, root.http_get, "/no/such/path")
    within("404 Not Found", str(error.error_message))


@check("a method that a path does not take: 405")
def _():
    fails(405, root.http_delete, "/version")


# ---------------------------------------------------------------------------------------------------------------------
group_of_checks("tidying up")


@check("a project is deleted")
def _():
    s.fork.delete()
    gone = root.http_get(f"/projects/{s.fork.id}") if s.fork.id in [row.id for row in root.projects.list(get_all=True)] else None
    assert gone is None or gone["marked_for_deletion_on"], "neither gone nor marked"


@check("a group is deleted with what is in it")
def _():
    s.subgroup.delete()
    try:
        assert root.groups.get(s.subgroup.id).marked_for_deletion_on, "neither gone nor marked"
    except GitlabError as error:
        equal(error.response_code, 404)


@check("a user is deleted")
def _():
    s.newcomer.delete()
    fails(404, root.users.get, s.newcomer.id)


sys.exit(1 if failed else 0)
