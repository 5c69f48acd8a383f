import { branchBehaviours } from "./repository-branches.ts";
import { commitBehaviours } from "./repository-commits.ts";
import { commitDiscussionBehaviours } from "./repository-discussions.ts";
import { followPushes } from "./repository-events.ts";
import { fileBehaviours } from "./repository-files.ts";
import { protectionBehaviours } from "./repository-protection.ts";
import { seedRepositorySearch } from "./repository-search.ts";
import { seedRepository } from "./repository-seeds.ts";
import { treeBehaviours } from "./repository-tree.ts";
import type { Part } from "./types.ts";

/** Branches, tags, commits, files, trees and their protections. */
export const repositoryPart: Part = {
  behaviours: [
    ...branchBehaviours,
    ...commitBehaviours,
    ...commitDiscussionBehaviours,
    ...fileBehaviours,
    ...protectionBehaviours,
    ...treeBehaviours,
  ],
  seed: (world) => {
    seedRepository(world);
    seedRepositorySearch(world);
    followPushes(world);
  },
};
