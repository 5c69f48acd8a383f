import { expect } from "vitest";
import { describeTasks, type Json, PROJECT, type Task, type World } from "../support/tasks.ts";

/** The tasks of daily work, with their ceilings of calls and tokens, discovery included. */
const TASKS: readonly Task[] = [
  {
    name: "2. why did main fail?",
    calls: 3,
    tokens: 4_000,
    async run({ agent }) {
      const explain = await agent.discover("why did main fail", "ci", "pipeline.explain_failure");
      const told = await explain({ project_id: PROJECT });
      expect(told.isError, told.seen).toBe(false);
      for (const word of [/unit/i, /lint/i, /runner_system_failure|runner system failure/i, /allow/i, /Expected|expected/])
        expect(told.seen).toMatch(word);
    },
  },
  {
    name: "3. create an issue with two labels, a milestone, assigned to me",
    calls: 3,
    tokens: 3_000,
    async run({ agent, ask }) {
      const milestones = (await ask("/projects/101/milestones?state=active")) as Json[];
      const title = String(milestones[0]?.title);
      const create = await agent.discover("create an issue with labels", "work_items", "issue.create");
      const made = await create({
        project_id: PROJECT,
        title: "Cart total is wrong after a coupon",
        labels: ["bug", "coupon-rounding"],
        milestone_id: title,
        assignee_ids: ["me"],
      });
      expect(made.isError, made.seen).toBe(false);
      expect(made.seen).toMatch(/labels_created[^a-z]+coupon-rounding/);
      const [issue] = (await ask("/projects/101/issues?search=coupon&in=title")) as Json[];
      expect(issue).toMatchObject({
        title: "Cart total is wrong after a coupon",
        milestone: { title },
        assignees: [{ username: "maria" }],
        state: "opened",
      });
      expect([...((issue?.labels ?? []) as string[])].sort()).toEqual(["bug", "coupon-rounding"]);
    },
  },
  {
    name: "6. my open merge requests, everywhere",
    calls: 2,
    tokens: 3_000,
    async run({ agent, ask }) {
      const params = { state: "opened", scope: "created_by_me" };
      const mine = (await ask("/merge_requests?state=opened&scope=created_by_me&per_page=100")) as Json[];
      expect(mine.length).toBeGreaterThan(20);
      const reply =
        agent.way === "find"
          ? await (await agent.discover("my open merge requests everywhere", "merge_requests", "merge_request.list"))(params)
          : await agent.run("merge_request.list", params);
      expect(reply.isError, reply.seen).toBe(false);
      const iids = mine.slice(0, 20).map((row) => Number(row.iid));
      expect(reply.json.items).toHaveLength(20);
      expect((reply.json.items as Json[]).map((row) => row.iid)).toEqual(iids);
      expect(new Set(mine.map((row) => row.project_id)).size).toBeGreaterThan(1);
      expect(agent.form === "text" ? reply.text : JSON.stringify(reply.json.page)).toMatch(/next/);
    },
  },
  {
    name: "8. who approved !42, and who still must?",
    calls: 3,
    tokens: 3_000,
    async run({ agent, ask }) {
      const state = (await ask("/projects/101/merge_requests/42/approval_state")) as {
        rules: { name: string; approved_by: { username: string }[] }[];
      };
      const read = await agent.discover(
        "who approved merge request 42 and who still must approve",
        "merge_requests",
        "merge_request.approval_state_get",
      );
      const told = await read({ project_id: PROJECT, merge_request_iid: 42 });
      expect(told.isError, told.seen).toBe(false);
      expect(state.rules.length).toBeGreaterThan(1);
      for (const rule of state.rules) {
        expect(told.seen).toContain(rule.name);
        for (const user of rule.approved_by) expect(told.seen).toContain(user.username);
      }
      expect(told.seen).toContain("maria");
    },
  },
  {
    name: "10. switch off the nightly pipeline schedule",
    calls: 4,
    tokens: 3_000,
    run: (world) => switchOff(world, false),
  },
  {
    name: "10b. the same by one who does not own it: refused, and what can be done",
    calls: 4,
    tokens: 3_000,
    token: "jonas",
    run: (world) => switchOff(world, true),
  },
];

async function switchOff({ agent, ask }: World, foreign: boolean): Promise<void> {
  const update = await agent.discover("switch off the nightly pipeline schedule", "ci", "pipeline_schedule.update");
  const listed = await agent.run("pipeline_schedule.list", { project_id: PROJECT });
  const rows = (await ask("/projects/101/pipeline_schedules")) as Json[];
  const nightly = rows.find((row) => String(row.description).includes("Nightly"));
  expect(nightly).toMatchObject({ active: true });
  expect(listed.seen).toContain(String(nightly?.id));
  const done = await update({ project_id: PROJECT, pipeline_schedule_id: nightly?.id, active: false });
  const after = (await ask(`/projects/101/pipeline_schedules/${nightly?.id}`)) as Json;
  expect(after.active).toBe(foreign);
  expect(done.isError, done.seen).toBe(foreign);
  if (foreign) expect(done.seen).toMatch(/take.ownership/);
}

describeTasks("daily work", TASKS);
