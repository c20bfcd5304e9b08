import IconZoomQuestion from 'icon:zoom-question';
import { Center } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from './empty-state.tsx';

export function NotFound() {
  return (
    <Center mih="60vh">
      <EmptyState
        icon={<IconZoomQuestion />}
        title="Page not found"
        hint="Check the address, or the object was removed."
      >
        <Link to="/">Go to Overview</Link>
      </EmptyState>
    </Center>
  );
}
