import type { Tool } from '../tool.ts';
import { explainTool } from './explain-indicator.ts';
import { huntingTool } from './hunting-package.ts';
import { listTool } from './list-indicators.ts';
import { lookUpTool } from './look-up.ts';
import { actorTool, campaignTool } from './profiles.ts';
import { searchTool } from './search.ts';
import { sigmaTool } from './sigma-rules.ts';
import { newsTool } from './whats-new.ts';

/** All tools, in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  lookUpTool,
  explainTool,
  searchTool,
  listTool,
  newsTool,
  actorTool,
  campaignTool,
  huntingTool,
  sigmaTool,
];
