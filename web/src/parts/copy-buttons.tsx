import IconBracketsContain from 'icon:brackets-contain';
import IconCheck from 'icon:check';
import IconCopy from 'icon:copy';
import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { announce } from './announce.tsx';
import { copyText } from './clipboard.ts';

const COPIED_MS = 1_500;

function useCopy(value: string) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
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

interface CopyIconProps {
  value: string;
  /** Names the copied text, for screen readers and the tooltip. */
  name: string;
  icon?: typeof IconCopy;
}

/** An icon button that copies a value. */
function CopyIcon({ value, name, icon: Icon = IconCopy }: CopyIconProps) {
  const { copied, copy } = useCopy(value);
  return (
    <Tooltip label={copied ? 'Copied' : `Copy ${name}`}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'green' : 'gray'}
        size="sm"
        onClick={copy}
        aria-label={`Copy ${name}`}
      >
        {copied ? <IconCheck size={14} /> : <Icon size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Copy buttons for the defanged value, which is safe to paste into messages, and the plain value for tools. */
export function CopyValueButtons({ value, defanged }: { value: string; defanged: string }) {
  if (value === defanged) return <CopyIcon value={value} name="the value" />;
  return (
    <Group gap={0} wrap="nowrap">
      <CopyIcon value={defanged} name="defanged" icon={IconBracketsContain} />
      <CopyIcon value={value} name="value" />
    </Group>
  );
}

export function CopyButton({ value, children }: { value: string; children: string }) {
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
