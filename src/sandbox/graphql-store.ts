import { fixture } from "./fixtures.ts";
import { gid, idOf } from "./graphql-context.ts";
import type { Json, World } from "./types.ts";

/** A thing that only GraphQL knows: its fields, the type that it is of, and what it belongs to. */
export interface Row extends Json {
  readonly id: string;
  /** `project:101`, `group:10`, or the global id of another thing. */
  owner?: string;
}

/** Types whose global ids are called otherwise than the type. */
const KINDS: Readonly<Record<string, string>> = {
  Achievement: "Achievements::Achievement",
  AlertManagementAlert: "AlertManagement::Alert",
  BranchRule: "Projects::BranchRule",
  CiCatalogResource: "Ci::Catalog::Resource",
  ComplianceFramework: "ComplianceManagement::Framework",
  ProjectTargetBranchRule: "Projects::TargetBranchRule",
  ScanProfileType: "Security::ScanProfile",
  SecurityAttribute: "Security::Attribute",
  SecurityCategory: "Security::Category",
  TerraformState: "Terraform::State",
  TimelineEventType: "IncidentManagement::TimelineEvent",
  UserAchievement: "Achievements::UserAchievement",
  ValueStream: "Analytics::CycleAnalytics::ValueStream",
  ValueStreamStage: "Analytics::CycleAnalytics::Stage",
  WorkItemSavedViewType: "WorkItems::SavedViews::SavedView",
  WorkItemStatus: "WorkItems::Statuses::SystemDefined::Status",
};

export const kindOf = (type: string): string => KINDS[type] ?? type;

type Seeds = Readonly<Record<string, readonly (Json & { readonly id: number | string })[]>>;

function createStore(): Map<string, Row[]> {
  const seeds = fixture<Seeds>("graphql");
  return new Map(
    Object.entries(seeds).map(([type, rows]) => [
      type,
      rows.map((row): Row => ({ ...row, __typename: type, id: gid(kindOf(type), row.id) })),
    ]),
  );
}

/** All rows of a type; the list itself, to be changed. */
export function rowsOf(world: World, type: string): Row[] {
  const store = world.part("graphql", createStore);
  const rows = store.get(type) ?? [];
  store.set(type, rows);
  return rows;
}

export function findRow(world: World, type: string, id: unknown): Row | undefined {
  return rowsOf(world, type).find((row) => idOf(row.id) === idOf(id));
}

export function addRow(world: World, type: string, fields: Json, owner?: string): Row {
  const rows = rowsOf(world, type);
  const taken = rows.map((row) => Number(idOf(row.id))).filter((id) => Number.isInteger(id));
  const id = gid(kindOf(type), Math.max(0, ...taken) + 1);
  const row: Row = {
    createdAt: world.now(),
    updatedAt: world.now(),
    ...fields,
    __typename: type,
    id,
    ...(owner === undefined ? {} : { owner }),
  };
  rows.push(row);
  return row;
}

export function removeRow(world: World, type: string, row: Row): void {
  const rows = rowsOf(world, type);
  rows.splice(rows.indexOf(row), 1);
}
