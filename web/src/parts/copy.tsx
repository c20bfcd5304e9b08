import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBracketsContain, IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { announce } from './announce.tsx';
import { copyText } from './clipboard.ts';

const SHOWN_MS = 1_500;

function useCopy(value: string) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await copyText(value);
      setCopied(true);
      announce('Copied');
    } catch {
      notifications.show({
        title: 'Copy failed',
        message: 'The browser denied clipboard access. Select the text and copy it manually.',
        color: 'red',
      });
    }
  };
  return { copied, copy };
}

interface CopyProps {
  value: string;
  /** Says what, to whoever cannot see it. */
  what: string;
  icon?: typeof IconCopy;
}

/** An icon that copies. */
function Copy({ value, what, icon: Icon = IconCopy }: CopyProps) {
  const { copied, copy } = useCopy(value);
  return (
    <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'green' : 'gray'}
        size="sm"
        onClick={copy}
        aria-label={`Copy ${what}`}
      >
        {copied ? <IconCheck size={14} /> : <Icon size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Both forms of a value: safe to paste into a message, and as a tool wants it. */
export function CopyForms({ value, defanged }: { value: string; defanged: string }) {
  if (value === defanged) return <Copy value={value} what="the value" />;
  return (
    <Group gap={0} wrap="nowrap">
      <Copy value={defanged} what="defanged" icon={IconBracketsContain} />
      <Copy value={value} what="value" />
    </Group>
  );
}

export function CopyText({ value, children }: { value: string; children: string }) {
  const { copied, copy } = useCopy(value);
  return (
    <Button
      variant="default"
      size="xs"
      onClick={copy}
      leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
    >
      {copied ? 'Copied' : children}
    </Button>
  );
}
