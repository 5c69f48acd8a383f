/** Things of the seeds that a parameter can name. */
export const SEEDED: Readonly<Record<string, string>> = {
  project_id: "101",
  group_id: "10",
  user_id: "3",
  issue_iid: "12",
  merge_request_iid: "42",
  branch: "main",
  tag_name: "v1.4.0",
  sha: "main",
  file_path: "README.md",
};

/** With those that stand in that project alone; a group's own are others. */
export const SEEDED_IN_PROJECT: typeof SEEDED = { ...SEEDED, ref_name: "main", label_id: "201", milestone_id: "304" };
