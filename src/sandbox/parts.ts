import { accessRequestBehaviours } from "./access-requests.ts";
import { boardBehaviours } from "./boards.ts";
import { ciPart } from "./ci.ts";
import { coreBehaviours, seedCore } from "./core.ts";
import { epicBehaviours } from "./epics.ts";
import { groupBehaviours } from "./groups.ts";
import { issueLinkBehaviours } from "./issue-links.ts";
import { seedIssueFixtures, seedReleases, seedTables } from "./issue-seeds.ts";
import { issueBehaviours } from "./issues.ts";
import { labelBehaviours } from "./labels.ts";
import { memberBehaviours } from "./members.ts";
import { mergeRequestsPart } from "./merge-requests.ts";
import { milestoneBehaviours } from "./milestones.ts";
import { seedPeople } from "./people-seeds.ts";
import { projectListBehaviours } from "./project-lists.ts";
import { projectBehaviours } from "./projects.ts";
import { releaseBehaviours } from "./releases.ts";
import { repositoryPart } from "./repository.ts";
import { snippetBehaviours } from "./snippets.ts";
import { tokenBehaviours } from "./tokens.ts";
import type { Part } from "./types.ts";
import { uploadBehaviours } from "./uploads.ts";
import { userBehaviours } from "./users.ts";
import { wikiBehaviours } from "./wikis.ts";

const people: Part = {
  behaviours: [
    ...coreBehaviours,
    ...userBehaviours,
    ...tokenBehaviours,
    ...groupBehaviours,
    ...memberBehaviours,
    ...accessRequestBehaviours,
    ...projectListBehaviours,
    ...projectBehaviours,
  ],
  seed: (world) => {
    seedCore(world);
    seedPeople(world);
    seedTables(world);
  },
};

const planning: Part = {
  behaviours: [
    ...labelBehaviours,
    ...milestoneBehaviours,
    ...issueBehaviours,
    ...issueLinkBehaviours,
    ...epicBehaviours,
    ...boardBehaviours,
    ...uploadBehaviours,
    ...wikiBehaviours,
    ...snippetBehaviours,
    ...releaseBehaviours,
  ],
  seed: (world) => {
    seedIssueFixtures(world);
    seedReleases(world);
  },
};

/** Everything that the sandbox can do, in the order in which it is seeded. Of two equal rows the later part's wins; all win over the generic engine. */
export const PARTS: readonly Part[] = [people, planning, repositoryPart, mergeRequestsPart, ciPart];
